// Where os.verify.key is set the image must be signed with it; unsigned is refused. A cosign key pair is checked here, before
// anything is fetched; a GPG key is given to the engine, which checks the commit inside the image.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { readManifest } from '../../../core/image/manifest.ts'
import { claimNames, claimsOf, type SignedClaim, signatureTag } from '../../../core/image/signed-claim.ts'
import type { ImageEngine } from '../../../core/image/status.ts'
import type { Host } from '../../../ports/host.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import type { StepContext } from '../driver.ts'
import { lastLines } from './image-state.ts'
import { fetchManifest, type ResolvedImage } from './resolve-image.ts'

const gpgHead = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const claimBytes = 64 * 1024

export function isGpgKey(key: string): boolean {
  return key.trimStart().startsWith(gpgHead)
}

/** The reason it is not trusted; undefined when a signature of this key speaks of this image. */
export async function checkCosign(
  context: Pick<StepContext, 'host' | 'stagingFolder'>,
  image: ResolvedImage,
  key: string,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (!signatures.isPublicKey(key)) return untrusted('os.verify.key is neither a PEM public key nor a GPG key')
  // A list of images is signed as a whole; some signers sign each of them as well, or only that.
  const digests = [...new Set([image.digest, image.instance])]
  let seen = 0
  for (const digest of digests) {
    for (const { text, signature } of await signedTexts(context, image.name, digest, signal)) {
      seen += 1
      if (claimNames(text, digest) && signatures.verify(key, text, signature)) return undefined
    }
  }
  const what = `${image.name}@${image.digest}`
  return untrusted(
    seen === 0 ? `${what} is not signed` : `none of the ${seen} signatures of ${what} is by os.verify.key`,
  )
}

async function signedTexts(
  { host, stagingFolder }: Pick<StepContext, 'host' | 'stagingFolder'>,
  name: string,
  digest: string,
  signal: AbortSignal,
): Promise<readonly { readonly text: string; readonly signature: string }[]> {
  const reference = `${name}:${signatureTag(digest)}`
  const found = await fetchManifest(host, reference, signal)
  if (found === undefined) return []
  const read = readManifest(found, '')
  const claims = read.kind === 'image' ? claimsOf(read.manifest) : []
  if (claims.length === 0) return []
  const folder = `${stagingFolder}/signatures`
  await fetchClaims(host, reference, folder, signal)
  const texts = claims.map(async (claim: SignedClaim) => {
    const hash = claim.digest.slice('sha256:'.length)
    const text = (await host.files.read(`${folder}/${hash}`, claimBytes)) ?? ''
    return sha256(text) === hash ? [{ text, signature: claim.signature }] : []
  })
  return (await Promise.all(texts)).flat()
}

async function fetchClaims(host: Host, reference: string, folder: string, signal: AbortSignal): Promise<void> {
  const parts = [
    ['mkdir', '-p', folder],
    ['skopeo', '--insecure-policy', 'copy', '--quiet', `docker://${reference}`, `dir:${folder}`],
  ]
  for (const argv of parts) {
    const { exitCode, stderr } = await host.run({ argv, timeoutMs: 2 * 60_000 }, signal)
    if (exitCode !== 0) throw new SlipwayError('StagingFailed', `cannot fetch ${reference}: ${lastLines(stderr)}`)
  }
}

/** A remote of ostree that holds the key; it stays, since the deployment's origin names it. */
export async function prepareGpg(
  host: Host,
  engine: ImageEngine,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly remote: string } | Reason> {
  if (engine !== 'rpm-ostree')
    return untrusted('bootc checks no GPG signatures; give os.verify.key a cosign public key')
  const remote = `slipway-${sha256(key).slice(0, 12)}`
  const parts = [
    {
      // Nothing is ever fetched from its address.
      argv: ['ostree', 'remote', 'add', '--if-not-exists', '--set=gpg-verify=true', remote, 'https://invalid.invalid/'],
    },
    { argv: ['ostree', 'remote', 'gpg-import', '--stdin', remote], input: key },
  ]
  for (const part of parts) {
    const { exitCode, stderr } = await host.run(part, signal)
    if (exitCode !== 0) return untrusted(`ostree does not take os.verify.key: ${lastLines(stderr)}`)
  }
  return { remote }
}

export function untrusted(message: string): Reason {
  return { code: 'ImageUntrusted', message }
}

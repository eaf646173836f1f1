// Where os.verify.key is set the image must be signed with it, as cosign signs with a key pair; unsigned is refused. Checked
// here, before anything is fetched.

import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { readManifest } from '../../../core/image/manifest.ts'
import { claimNames, claimsOf, type SignedClaim, signatureTag } from '../../../core/image/signed-claim.ts'
import type { Host } from '../../../ports/host.ts'
import type { ImageSignatures } from '../../../ports/image-signatures.ts'
import { sha256 } from '../../journal/sealed-file.ts'
import type { StepContext } from '../driver.ts'
import { lastLines } from './image-state.ts'
import { fetchManifest, type ResolvedImage } from './resolve-image.ts'

const gpgHead = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
/**
 * ostree's GPG signature is of the commit at the base of an image. The tools do not look at it again where that base is on the
 * host already, and never at the layers above it: an unsigned image passed.
 */
const gpgRefusal =
  'a GPG key vouches for the commit at the base of an image, not for the image; sign it with cosign and give that public key'
const claimBytes = 64 * 1024

function isGpgKey(key: string): boolean {
  return key.trimStart().startsWith(gpgHead)
}

/** The reason it is not trusted; undefined when a signature of this key speaks of this image. */
export async function checkSignature(
  context: Pick<StepContext, 'host' | 'stagingFolder'>,
  image: ResolvedImage,
  key: string,
  signatures: ImageSignatures,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (isGpgKey(key)) return untrusted(gpgRefusal)
  if (!signatures.isPublicKey(key)) return untrusted('os.verify.key is no PEM public key')
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

function untrusted(message: string): Reason {
  return { code: 'ImageUntrusted', message }
}

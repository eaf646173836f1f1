// os.verify.key may be a GPG key where the image is one ostree commit and nothing above it: ostree signs commits. The engine that fetches
// does not look at a commit that is on the host already, and never at the layers above; so what was fetched is looked at here, before any of
// it is staged.

import type { ImagePlan } from '../../../api/os-image.ts'
import type { Reason } from '../../../api/reason.ts'
import { readCommitImage } from '../../../core/image/commit-image.ts'
import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { answerOf } from '../host-answer.ts'
import { fetchedCommit } from './fetched-program.ts'
import { containerProbe, ostreeRepository, pinnedName } from './image-commands.ts'
import { lastLines } from './image-state.ts'

type Image = Pick<ImagePlan, 'name' | 'instance'>

const gpgHead = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const askTimeoutMs = 2 * 60_000

export function isGpgKey(key: string): boolean {
  return key.trimStart().startsWith(gpgHead)
}

/** Before anything is fetched: why a GPG key can say nothing of this image, on this host. */
export async function whyNoCommit(
  host: Host,
  engine: ImagePlan['engine'],
  image: Image,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const found = await commitOf(host, image, signal)
  if (typeof found !== 'string') return found
  if (engine !== 'bootc' || (await host.run({ argv: containerProbe }, signal)).exitCode === 0) return undefined
  return untrusted(
    image,
    'bootc cannot fetch ahead on this host, so its commit cannot be looked at before it is staged',
  )
}

/** Of the fetched image: why its commit is not trusted, or is not what would be booted. */
export async function checkCommit(
  context: Pick<StepContext, 'host' | 'stagingFolder'>,
  image: Image,
  key: string,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { host } = context
  const commit = await commitOf(host, image, signal)
  if (typeof commit !== 'string') return commit
  const fetched = await fetchedCommit(host, image.instance, signal)
  if (fetched === undefined) return untrusted(image, `it is not found in ${ostreeRepository}`)
  const [tree, signedTree] = [await rootOf(host, fetched, signal), await rootOf(host, commit, signal)]
  if (tree === undefined || tree !== signedTree) {
    return untrusted(image, `what would be booted is not the tree of its commit ${commit.slice(0, 12)}`)
  }
  const complaint = await gpgComplaint(context, commit, key, signal)
  return complaint === undefined ? undefined : untrusted(image, `its commit is not signed with it: ${complaint}`)
}

async function commitOf(host: Host, image: Image, signal: AbortSignal): Promise<string | Reason> {
  const argv = ['skopeo', 'inspect', '--config', '--raw', `docker://${nameOf(image)}`]
  const text = await answerOf(host, { argv, timeoutMs: askTimeoutMs }, signal, 'StagingFailed')
  const read = readCommitImage(text)
  return read.kind === 'commit' ? read.commit : untrusted(image, read.why)
}

/** Mode, owner and the two checksums of its root, which stand for all that is below it. */
async function rootOf(host: Host, commit: string, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['ostree', 'ls', `--repo=${ostreeRepository}`, '--dironly', '--checksum', commit, '/']
  const { exitCode, stdout } = await host.run({ argv }, signal)
  return exitCode === 0 && /\b[0-9a-f]{64} [0-9a-f]{64}\b/.test(stdout) ? stdout.trim() : undefined
}

/**
 * ostree checks what it pulls by the keys of the remote it comes from: here the host's own repository, with this key alone. A remote
 * without keys would be checked by those of the system, so a key that cannot be imported ends it.
 */
async function gpgComplaint(
  { host, stagingFolder }: Pick<StepContext, 'host' | 'stagingFolder'>,
  commit: string,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const folder = `${stagingFolder}/commit-signature`
  const repository = `--repo=${folder}`
  const [remote, address] = ['order', `file://${ostreeRepository}`]
  const make = [
    ['rm', '-rf', folder],
    ['mkdir', '-p', folder],
    ['ostree', 'init', repository, '--mode=archive'],
    ['ostree', 'remote', 'add', repository, '--set=gpg-verify=true', remote, address],
  ]
  for (const argv of make) await answerOf(host, { argv }, signal, 'StagingFailed')
  const imported = await host.run(
    { argv: ['ostree', 'remote', 'gpg-import', repository, '--stdin', remote], input: key },
    signal,
  )
  if (imported.exitCode !== 0) return `os.verify.key cannot be read: ${lastLines(imported.stderr)}`
  const argv = ['ostree', 'pull', repository, '--commit-metadata-only', remote, commit]
  const pulled = await host.run({ argv, timeoutMs: askTimeoutMs }, signal)
  return pulled.exitCode === 0 ? undefined : lastLines(pulled.stderr)
}

function nameOf({ name, instance }: Image): string {
  return pinnedName({ name, digest: instance })
}

function untrusted(image: Image, why: string): Reason {
  const message = `${nameOf(image)} is not trusted by the GPG key in os.verify.key: ${why}. It vouches for an image that is one signed ostree commit; sign any other with cosign and give that public key`
  return { code: 'ImageUntrusted', message }
}

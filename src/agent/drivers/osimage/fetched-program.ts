// A program of the fetched image before anything of it is staged: taken out of the host's repository, so that what the image brings
// is known while the node still works.

import type { Host } from '../../../ports/host.ts'
import type { StepContext } from '../driver.ts'
import { answerOf } from '../host-answer.ts'
import { checkOutCommand, fetchedImagesCommand, manifestDigestCommand } from './image-commands.ts'
import { planOf } from './image-state.ts'

/** Its path, in the order's staging folder; undefined where the image was not fetched ahead, or has no such program. */
export async function fetchedProgram(
  context: StepContext,
  name: 'kubeadm' | 'kubelet',
  signal: AbortSignal,
): Promise<string | undefined> {
  const { host, stagingFolder } = context
  const folder = `${stagingFolder}/image/${name}`
  const path = `${folder}/${name}`
  if ((await host.files.look(path)).kind === 'file') return path
  const { instance } = await planOf(context)
  const commit = await fetchedCommit(host, instance, signal)
  if (commit === undefined) return undefined
  // Cut off it may have left a part: made new as a whole, and named last.
  const fresh = `${folder}.new`
  await answerOf(host, { argv: ['rm', '-rf', fresh, folder] }, signal, 'StagingFailed')
  await answerOf(host, { argv: ['mkdir', '-p', `${stagingFolder}/image`] }, signal, 'StagingFailed')
  const copied = await host.run(
    { argv: checkOutCommand(commit, `/usr/bin/${name}`, fresh), timeoutMs: 120_000 },
    signal,
  )
  if (copied.exitCode !== 0) return undefined
  await answerOf(host, { argv: ['mv', fresh, folder] }, signal, 'StagingFailed')
  return path
}

/** The name of the commit that the image was made into; its tree is what would be booted. */
export async function fetchedCommit(host: Host, digest: string, signal: AbortSignal): Promise<string | undefined> {
  const { exitCode, stdout } = await host.run({ argv: fetchedImagesCommand }, signal)
  if (exitCode !== 0) return undefined
  for (const name of stdout.split('\n').filter((line) => line !== '')) {
    const shown = await host.run({ argv: manifestDigestCommand(name) }, signal)
    if (shown.stdout.includes(digest)) return name
  }
  return undefined
}

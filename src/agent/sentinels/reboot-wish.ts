// Whether the host wants to be booted, by the files and the command of the policy. The watcher tells the operator by it, and an order
// that empties the node for something else boots in the same drain by it: one judgement for both.

import type { RebootFile, SentinelFiles, Sentinels } from '../../api/node-state.ts'
import type { Host } from '../../ports/host.ts'
import type { Log } from '../../ports/log.ts'
import { isSentinel } from './sentinel-file.ts'
import type { Sighting } from './sentinel-status.ts'

export type RebootSettings = Omit<SentinelFiles, 'maintenance'>

const commandTimeoutMs = 60_000

export async function lookForReboot(
  { host, log }: { readonly host: Host; readonly log: Log },
  { reboot = [], rebootCommand }: RebootSettings,
  signal: AbortSignal,
): Promise<Pick<Sighting, 'rebootRequired' | 'rebootFiles' | 'bootID'>> {
  const rebootFiles: RebootFile[] = []
  for (const path of reboot) {
    const look = await host.files.look(path)
    if (!isSentinel(look)) continue
    rebootFiles.push({ path, ...(look.kind === 'file' && { writtenAt: new Date(look.modifiedMs).toISOString() }) })
  }
  if (rebootFiles.length > 0) return { rebootRequired: true, rebootFiles, bootID: await host.bootId() }
  const rebootRequired = rebootCommand ? await ask({ host, log }, rebootCommand, signal) : false
  return { rebootRequired, ...(rebootRequired && { rebootFiles, bootID: await host.bootId() }) }
}

/** As kured asks it: exit code 0 wants a reboot, any other does not. */
async function ask(
  { host, log }: { readonly host: Host; readonly log: Log },
  argv: readonly string[],
  signal: AbortSignal,
): Promise<boolean | 'Unknown'> {
  try {
    const { exitCode, stderr } = await host.run({ argv, timeoutMs: commandTimeoutMs }, signal)
    if (exitCode > 1) log.warn('the reboot command failed', { argv, exitCode, stderr: stderr.slice(0, 500) })
    return exitCode === 0
  } catch (error) {
    if (signal.aborted) throw error
    log.warn('the reboot command could not be run', { argv, error: String(error) })
    return 'Unknown'
  }
}

/** What is still there after a boot, unchanged, asked for that boot, not for another. */
export function asksForReboot({ rebootRequired, rebootAskedIn }: Sentinels, bootId: string): boolean {
  return rebootRequired !== undefined && rebootAskedIn === bootId
}

/** In memory, as /run is: what is there was written in this boot, whatever time it bears. */
export async function isOfThisBoot(host: Host, { path }: RebootFile, signal: AbortSignal): Promise<boolean> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const { stdout } = await host.run({ argv: ['stat', '--file-system', '--format=%T', '--', folder] }, signal)
  return /^(tmpfs|ramfs)$/.test(stdout.trim())
}

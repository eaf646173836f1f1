import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'
import type { HeldProcess, Job, ProcessIdentity } from '../../ports/host.ts'
import { heldPath, reservedPath, reservedText } from './held-job.ts'

/** One way of running jobs that outlive the agent. All of it is about jobs of the present boot. */
export interface JobKeeper {
  hold(job: Job, bootId: string, signal: AbortSignal): Promise<HeldProcess>
  isRunning(process: ProcessIdentity): Promise<boolean>
  ended(process: ProcessIdentity, signal: AbortSignal): Promise<void>
  end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void>
}

export const cleanEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
}

/**
 * What a job that ends must write then has its room before it begins. Beside a job that runs under that name it would take its word
 * back: only who is sure that there is none does this.
 */
export async function reserveResult(disk: Disk, { resultPath }: Job): Promise<void> {
  const reserved = reservedPath(resultPath)
  await disk.write(reserved, reservedText, 0o600)
  await disk.sync(reserved)
  await disk.write(heldPath(resultPath), '', 0o600)
}

export function cannotStart(job: Job, why: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Internal', `cannot start ${job.argv[0] ?? 'an empty command'}: ${why}`, { cause })
}

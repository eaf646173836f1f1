import { SlipwayError } from '../../api/slipway-error.ts'
import type { HeldProcess, Job, ProcessIdentity } from '../../ports/host.ts'

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

export function cannotStart(job: Job, why: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Internal', `cannot start ${job.argv[0] ?? 'an empty command'}: ${why}`, { cause })
}

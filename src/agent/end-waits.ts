// What keeps a program that has come to its end from being over.

import type { StepStart } from '../api/journal.ts'
import type { JobState } from '../ports/host.ts'
import type { StepRun } from './step-run.ts'
import type { LookForWait } from './telling-waits.ts'

/** Beyond the grace, after which it is killed: that takes no longer, unless the kernel cannot. */
const killedMs = 5_000
const stuckEveryMs = 5_000

/** It was told to end, and killed, and is there all the same. */
export function stuckWait({ clock, step }: StepRun, graceMs: number): LookForWait {
  const toldAtMs = clock.monotonicMs()
  const message = `step ${step.name} took too long, was told to end and does not end, also not by SIGKILL: look on the host for processes in state D and at the storage they wait for. Nothing starts beside it meanwhile`
  return {
    everyMs: stuckEveryMs,
    look: () => {
      const isStuck = clock.monotonicMs() - toldAtMs >= graceMs + killedMs
      return Promise.resolve(isStuck ? { code: 'StepStuck', message } : undefined)
    },
  }
}

/** Of each program that runs: a machine with systemd is asked for each look. */
const endEveryMs = 30_000

/**
 * It has ended, and either cannot say how, or has said it and left behind what does not end: then nobody need wait any longer. Seen
 * twice: every program that ends is so for a moment.
 */
export function endWait({ host, step, folder, index }: StepRun, begun: StepStart, onExited: () => void): LookForWait {
  const { result } = folder.pathsOf(index, begun.starts)
  let last: JobState['state'] | undefined
  return {
    everyMs: endEveryMs,
    look: async () => {
      const { state } = await host.look(begun.process, result)
      const isLasting = state === last
      last = state
      if (isLasting && state === 'exited') onExited()
      if (!isLasting || state !== 'unwritten') return undefined
      const message = `step ${step.name} has ended, but its exit code cannot be written to ${result}: DiskFull, or a disk that does not answer. Free space there; nothing is run again meanwhile`
      return { code: 'JournalUnwritable', message }
    },
  }
}

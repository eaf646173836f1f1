// Two agents on one host, as a pod and a service of it, would carry out one order side by side and write one journal. So only who has the
// state folder works; another one waits until that has ended, and does not even report.

import { SlipwayError } from '../api/slipway-error.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Clock } from '../ports/clock.ts'
import type { FolderLocks } from '../ports/folder-locks.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'

interface Candidate {
  readonly locks: FolderLocks
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly stateDir: string
}

const backOff = { baseMs: 500, maxMs: 4_000 }

/** True once this agent is the only one of its host; false where it was told to stop before. */
export async function becomesOnlyAgent(candidate: Candidate, signal: AbortSignal): Promise<boolean> {
  const { clock, random, log, stateDir } = candidate
  let told: string | undefined
  for (let tries = 1; ; tries++) {
    try {
      await take(candidate, signal)
      if (told !== undefined) log.info('this agent works now', { folder: stateDir })
      return true
    } catch (error) {
      if (signal.aborted) return false
      const { code, message, nextStep } = known(error)
      if (told !== message) log.warn('this agent waits', { code, error: message, nextStep })
      told = message
    }
    try {
      await sleep(clock, backOffMs(backOff, tries, random), signal)
    } catch {
      return false
    }
  }
}

async function take({ locks, stateDir }: Candidate, signal: AbortSignal): Promise<void> {
  if (await locks.take(stateDir, signal)) return
  throw new SlipwayError('AnotherAgent', `another agent works with ${stateDir} on this host`)
}

function known(error: unknown): SlipwayError {
  if (error instanceof SlipwayError) return error
  return new SlipwayError('Internal', error instanceof Error ? error.message : String(error), { cause: error })
}

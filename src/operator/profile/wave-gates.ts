// Gates of the policy between the waves of a profile. It has no hooks, and nothing of it waits for its end.

import type { Reason } from '../../api/reason.ts'
import type { Operation } from '../../core/update/operation.ts'
import { soakedAt } from '../../core/update/waves.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Checkpoints } from '../gates/checkpoints.ts'
import type { UpdateChecks } from '../hooks/wave-checks.ts'

export interface WaveGatesOptions {
  readonly checkpoints: Checkpoints
  readonly clock: Clock
  /** Until when its present wave soaks, as it was recorded. */
  readonly soakUntil: () => string | undefined
}

export function waveGates({ checkpoints, clock, soakUntil }: WaveGatesOptions): UpdateChecks {
  const leaving = (operation: Operation, wave: number): Reason | undefined => {
    const verdict = checkpoints.afterWave(operation, wave)
    return verdict.state === 'passed' ? undefined : verdict.reason
  }
  return {
    // The control plane is wave 0, and is left when the first worker is to be taken.
    starting: ({ operation, wave, hasControlPlane, hasBegunWorkers }) =>
      wave > 0 && hasControlPlane && !hasBegunWorkers ? leaving(operation, 0) : undefined,
    leaving: ({ operation }, wave) => leaving(operation, wave),
    soaking: ({ operation }, wave) => checkpoints.soak(operation, wave, soakedAt(soakUntil(), clock.now())),
    ending: () => undefined,
  }
}

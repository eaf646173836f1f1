// A process of its own that proves one cluster after the other, as it is told.

import { type Comparison, compare } from './compare.ts'
import { realOutcome } from './real-outcome.ts'
import { simulatedOutcome } from './simulated-outcome.ts'

export interface LaneTask {
  readonly where: 'simulated' | 'real'
  readonly seed: number
  /** Of the nodes so many are rehearsed at most. */
  readonly rehearsedShare: number
}

export type LaneAnswer = { readonly comparison: Comparison } | { readonly failure: string }

const { signal } = new AbortController()

process.on('message', ({ where, seed, rehearsedShare }: LaneTask) => {
  const outcome =
    where === 'real' ? realOutcome(seed, signal, rehearsedShare) : simulatedOutcome(seed, signal, rehearsedShare)
  outcome.then(
    (found) => answer({ comparison: compare(found) }),
    (error: unknown) => answer({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.on('disconnect', () => process.exit())

function answer(message: LaneAnswer): void {
  process.send?.(message)
}

// When a person is told of what is left behind. Between a sweep and the next something may be left for a whole pause unseen; so what
// is waited for from then on is less than the minute we promise.

export const sweepMs = 20_000
const patienceMs = 35_000

/** What is left on one node, for as long as anything is. */
export interface Finding {
  readonly sinceMs: number
  /** What was told of it last. */
  readonly told?: string
}

/** What it waits for may change while it is put right; that is no new beginning. */
export function noteFinding(known: Finding | undefined, message: string, nowMs: number): Finding {
  const finding = known ?? { sinceMs: nowMs }
  return nowMs - finding.sinceMs < patienceMs ? finding : { ...finding, told: message }
}

/** Until the next sweep: sooner where something has to be told before. */
export function pauseMs(findings: Iterable<Finding>, nowMs: number): number {
  const due = [...findings].filter(({ told }) => told === undefined).map(({ sinceMs }) => sinceMs + patienceMs - nowMs)
  return Math.max(1, Math.min(sweepMs, ...due))
}

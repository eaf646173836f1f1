import type { Random } from '../ports/random.ts'

export interface BackOff {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * How long to wait after so many failures in a row: doubling, capped, and spread over the upper half of the wait so
 * that those who failed together do not come back together.
 */
export function backOffMs(backOff: BackOff, failures: number, random: Random): number {
  const ceiling = Math.min(backOff.maxMs, backOff.baseMs * 2 ** Math.min(Math.max(failures - 1, 0), 30))
  return ceiling * (0.5 + random.next() / 2)
}

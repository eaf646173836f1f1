import type { Clock } from '../ports/clock.ts'

/** Timers count no further than this; who waits longer looks again. */
const longestMs = 2_000_000_000

/** On this machine's monotonic clock: however the wall clock is set, as much time is left as there was. */
export class Deadline {
  readonly #clock: Clock
  readonly #atMs: number

  constructor(clock: Clock, leftMs: number) {
    this.#clock = clock
    this.#atMs = clock.monotonicMs() + leftMs
  }

  /** How long may still be waited; zero when it is over. */
  leftMs(): number {
    return Math.min(longestMs, Math.max(0, this.#atMs - this.#clock.monotonicMs()))
  }

  get isOver(): boolean {
    return this.leftMs() === 0
  }
}

import type { Clock } from '../ports/clock.ts'

/** Timers count no further than this; who waits longer looks again. */
const longestMs = 2_000_000_000

/**
 * A deadline on this machine's monotonic clock. `since` is a journalled instant of the host's wall clock: after a restart
 * the time that passed meanwhile counts, so that restarts do not extend a time-out. A wall clock that went back counts as none.
 */
export class Deadline {
  readonly #clock: Clock
  readonly #atMs: number

  constructor(clock: Clock, since: string, timeoutMs: number) {
    const passedMs = Math.max(0, clock.now().getTime() - Date.parse(since))
    this.#clock = clock
    this.#atMs = clock.monotonicMs() + timeoutMs - passedMs
  }

  /** How long may still be waited; zero when it is over. */
  leftMs(): number {
    return Math.min(longestMs, Math.max(0, this.#atMs - this.#clock.monotonicMs()))
  }

  get isOver(): boolean {
    return this.leftMs() === 0
  }
}

import type { SeededRandom } from '../seeded-random.ts'

/** Strikes now and then: every so many chances, drawn each time, and only so often in all. */
export class Countdown {
  readonly #random: SeededRandom
  readonly #every: number
  #left: number
  #strikes: number

  constructor(random: SeededRandom, every: number, strikes: number) {
    this.#random = random
    this.#every = every
    this.#strikes = strikes
    this.#left = random.whole(1, every)
  }

  /** One more chance to strike; true when it does. */
  tick(): boolean {
    if (this.#strikes === 0 || --this.#left > 0) return false
    this.#strikes--
    this.#left = this.#random.whole(1, this.#every)
    return true
  }
}

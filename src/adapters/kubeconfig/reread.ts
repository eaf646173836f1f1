import type { Clock } from '../../ports/clock.ts'
import type { Renewable } from '../../ports/kube-connection.ts'

const freshMs = 60_000

/** What stands in files that others renew: read again when older than a minute. A failed reading keeps the last good one. */
export class Reread<T> implements Renewable<T> {
  readonly #clock: Clock
  readonly #read: () => Promise<T>
  #last: { readonly value: T } | undefined
  #readMs = 0
  #reading: Promise<T> | undefined

  constructor(clock: Clock, read: () => Promise<T>) {
    this.#clock = clock
    this.#read = read
  }

  current(): Promise<T> {
    if (this.#last !== undefined && this.#clock.monotonicMs() - this.#readMs < freshMs)
      return Promise.resolve(this.#last.value)
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  refused(): void {
    this.#readMs = Number.NEGATIVE_INFINITY
  }

  async #readAgain(): Promise<T> {
    try {
      this.#last = { value: await this.#read() }
    } catch (error) {
      // Renewal may be replacing the file right now; what was good a minute ago is most likely good still.
      if (this.#last === undefined) throw error
    }
    this.#readMs = this.#clock.monotonicMs()
    return this.#last.value
  }
}

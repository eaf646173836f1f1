import type { Clock } from '../../ports/clock.ts'
import type { KubeCredential, KubeCredentials } from '../../ports/kube-connection.ts'

const freshMs = 60_000

/** Credentials in files that others renew: read again when older than a minute. A failed reading keeps the last good one. */
export class RereadCredentials implements KubeCredentials {
  readonly #clock: Clock
  readonly #read: () => Promise<KubeCredential>
  #last: KubeCredential | undefined
  #readMs = 0
  #reading: Promise<KubeCredential> | undefined

  constructor(clock: Clock, read: () => Promise<KubeCredential>) {
    this.#clock = clock
    this.#read = read
  }

  current(): Promise<KubeCredential> {
    if (this.#last !== undefined && this.#clock.monotonicMs() - this.#readMs < freshMs)
      return Promise.resolve(this.#last)
    this.#reading ??= this.#readAgain().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  refused(): void {
    this.#readMs = Number.NEGATIVE_INFINITY
  }

  async #readAgain(): Promise<KubeCredential> {
    try {
      this.#last = await this.#read()
    } catch (error) {
      // Renewal may be replacing the file right now; what was good a minute ago is most likely good still.
      if (this.#last === undefined) throw error
    }
    this.#readMs = this.#clock.monotonicMs()
    return this.#last
  }
}

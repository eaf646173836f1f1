import type { CancelTimer, Clock } from '../../ports/clock.ts'

export class TimeLimitPassed extends Error {
  readonly code = 'ETIMEDOUT'

  constructor() {
    super('the time limit has passed')
    this.name = 'TimeLimitPassed'
  }
}

/** A signal that is aborted with its parent, or when the time has passed; the time may be extended again and again. */
export class TimeLimit {
  readonly #clock: Clock
  readonly #parent: AbortSignal
  readonly #controller = new AbortController()
  readonly #onAbort = () => this.#controller.abort(this.#parent.reason)
  #untilMs: number
  #cancel: CancelTimer

  constructor(clock: Clock, ms: number, parent: AbortSignal) {
    this.#clock = clock
    this.#parent = parent
    this.#untilMs = clock.monotonicMs() + ms
    this.#cancel = this.#arm()
    parent.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get passed(): boolean {
    return this.#controller.signal.reason instanceof TimeLimitPassed
  }

  /** From now, so much more. Costs no timer: the one that runs looks again when it fires. */
  extend(ms: number): void {
    this.#untilMs = this.#clock.monotonicMs() + ms
  }

  end(): void {
    this.#cancel()
    this.#parent.removeEventListener('abort', this.#onAbort)
  }

  #arm(): CancelTimer {
    return this.#clock.after(Math.max(1, this.#untilMs - this.#clock.monotonicMs()), () => {
      if (this.#clock.monotonicMs() >= this.#untilMs) this.#controller.abort(new TimeLimitPassed())
      else this.#cancel = this.#arm()
    })
  }
}

/** A signal that ends with its parent's, or by itself before; ended by itself it leaves nothing on the parent. */
export class LinkedAbort {
  readonly #controller = new AbortController()
  readonly #parent: AbortSignal
  readonly #onAbort = (): void => this.#controller.abort(this.#parent.reason)

  constructor(parent: AbortSignal) {
    this.#parent = parent
    if (parent.aborted) this.#onAbort()
    else parent.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whoever waits on the signal gets the reason. */
  abort(reason: unknown): void {
    this.#parent.removeEventListener('abort', this.#onAbort)
    this.#controller.abort(reason)
  }
}

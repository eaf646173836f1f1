/** Rung when something may have changed; rings while nobody listens are kept as one. For one listener. */
export class Bell {
  #rung = false
  #listener: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#listener?.()
  }

  /** Resolves at the next ring, or at once if it has rung since the last time; rejects with the signal's reason. */
  heard(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.#listener = undefined
        signal.removeEventListener('abort', onAbort)
        finish()
      }
      const onAbort = () => settle(() => reject(signal.reason))
      const onRing = () => {
        this.#rung = false
        settle(resolve)
      }
      if (signal.aborted) onAbort()
      else if (this.#rung) onRing()
      else {
        this.#listener = onRing
        signal.addEventListener('abort', onAbort, { once: true })
      }
    })
  }
}

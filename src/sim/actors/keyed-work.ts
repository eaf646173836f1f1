import { isKubeError } from '../../api/kube-error.ts'
import type { Clock } from '../../ports/clock.ts'

const retryMs = 500

/** Level-based work by key: marked keys are worked on soon, each by one worker at a time, and again after a failure. */
export class KeyedWork {
  readonly #clock: Clock
  readonly #delayMs: number
  readonly #work: (key: string) => Promise<void>
  readonly #failed: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #running = new Set<string>()
  #marked = new Set<string>()
  #scheduled = false

  constructor(options: {
    readonly clock: Clock
    /** How long marks gather before the work starts. */
    readonly delayMs: number
    readonly work: (key: string) => Promise<void>
    /** Told of an error that no retry can mend. */
    readonly failed: (error: unknown) => void
    readonly signal: AbortSignal
  }) {
    this.#clock = options.clock
    this.#delayMs = options.delayMs
    this.#work = options.work
    this.#failed = options.failed
    this.#signal = options.signal
  }

  mark(key: string): void {
    this.#marked.add(key)
    if (!this.#running.has(key)) this.#schedule(this.#delayMs)
  }

  #schedule(ms: number): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#clock.after(ms, () => {
      this.#scheduled = false
      if (this.#signal.aborted) return
      const keys = this.#marked
      this.#marked = new Set()
      for (const key of keys) {
        if (this.#running.has(key)) this.#marked.add(key)
        else void this.#run(key)
      }
    })
  }

  async #run(key: string): Promise<void> {
    this.#running.add(key)
    try {
      await this.#work(key)
    } catch (error) {
      if (this.#signal.aborted) return
      if (!isKubeError(error)) {
        this.#failed(error)
        return
      }
      this.#clock.after(retryMs, () => this.mark(key))
    } finally {
      this.#running.delete(key)
    }
    if (this.#marked.has(key)) this.#schedule(this.#delayMs)
  }
}

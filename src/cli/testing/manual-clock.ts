import type { CancelTimer, Clock } from '../../ports/clock.ts'

/** Goes forward only when told to. */
export class ManualClock implements Clock {
  #nowMs: number
  readonly #startMs: number
  readonly #timers = new Map<number, { readonly dueMs: number; readonly callback: () => void }>()
  #nextTimer = 0

  constructor(start: string) {
    this.#startMs = Date.parse(start)
    this.#nowMs = this.#startMs
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    const id = this.#nextTimer++
    this.#timers.set(id, { dueMs: this.#nowMs + delayMs, callback })
    return () => this.#timers.delete(id)
  }

  /** Fires what is due within this time, letting promises settle before each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    await settled()
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a[1].dueMs - b[1].dueMs || a[0] - b[0])[0]
      if (!next || next[1].dueMs > endMs) break
      this.#timers.delete(next[0])
      this.#nowMs = Math.max(this.#nowMs, next[1].dueMs)
      next[1].callback()
      await settled()
    }
    this.#nowMs = endMs
  }

  get waiting(): number {
    return this.#timers.size
  }
}

/** Enough turns for any chain of promises these tests build. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

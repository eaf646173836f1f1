import { setImmediate as settle } from 'node:timers/promises'
import type { CancelTimer, Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

/** Time that passes when the test says so. `freeze` is a stopped process: time passes, its timers do not fire. */
export class ManualClock implements Clock {
  #nowMs = 0
  #timers: Timer[] = []
  readonly #epochMs: number

  constructor(epoch = '2026-01-01T00:00:00Z') {
    this.#epochMs = Date.parse(epoch)
  }

  now(): Date {
    return new Date(this.#epochMs + this.#nowMs)
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    const timer = { dueMs: this.#nowMs + delayMs, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Lets that much time pass, and everything that is due happen in its order. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (;;) {
      const next = this.#timers.reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
        undefined,
      )
      if (next === undefined || next.dueMs > untilMs) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.callback()
      await settle()
    }
    this.#nowMs = untilMs
    await settle()
  }

  /** The process does not run for that long: nothing fires, not even what was due. */
  freeze(ms: number): void {
    this.#nowMs += ms
  }
}

import type { CancelTimer, Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

/** A clock that stands still until it is moved; starts at a fixed instant. */
export class ManualClock implements Clock {
  #nowMs = Date.parse('2026-01-01T00:00:00Z')
  #timers: Timer[] = []

  now(): Date {
    return new Date(this.#nowMs)
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    // Whole milliseconds, as real timers: else a fraction too small to move the clock would be waited for again and again.
    const timer = { atMs: this.#nowMs + Math.ceil(delayMs), callback }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** The power was off meanwhile: nothing fires, and the timers of before are lost. */
  sleepThrough(ms: number): void {
    this.#timers = []
    this.#nowMs += ms
  }

  /** Lets everything happen that happens by itself, then moves to the next timer, until the condition holds. */
  async until(condition: () => boolean, limitMs = 24 * 3_600_000): Promise<void> {
    const endMs = this.#nowMs + limitMs
    for (;;) {
      await quiet()
      if (condition()) return
      const next = this.#timers.toSorted((a, b) => a.atMs - b.atMs)[0]
      if (!next || next.atMs > endMs) throw new Error('nothing more happens, and the condition does not hold')
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.callback()
    }
  }

  /** Moves on by this much, firing what comes due. */
  async pass(ms: number): Promise<void> {
    let passed = false
    this.after(ms, () => {
      passed = true
    })
    await this.until(() => passed)
    await quiet()
  }
}

/** Until no microtask is left. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

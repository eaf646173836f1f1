import { setImmediate as settle } from 'node:timers/promises'
import type { CancelTimer, Clock } from '../../src/ports/clock.ts'

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

/** Time that passes when the test says so. */
export class ManualClock implements Clock {
  #nowMs = 0
  #timers: Timer[] = []
  #epochMs: number

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
    // Whole milliseconds, as real timers: else a fraction too small to move the clock would be waited for again and again.
    const timer = { dueMs: this.#nowMs + Math.ceil(delayMs), callback }
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
    while (this.#fireNext(untilMs)) await settle()
    this.#nowMs = untilMs
    await settle()
  }

  /** Goes from timer to timer until the condition holds. */
  async until(condition: () => boolean, limitMs = 24 * 3_600_000): Promise<void> {
    const untilMs = this.#nowMs + limitMs
    await settle()
    while (!condition()) {
      if (!this.#fireNext(untilMs)) throw new Error('nothing more happens, and the condition does not hold')
      await settle()
    }
  }

  /** Somebody sets the wall clock; no time passes. */
  setForward(ms: number): void {
    this.#epochMs += ms
  }

  /** The process is stopped for that long: nothing fires, not even what was due. */
  freeze(ms: number): void {
    this.#nowMs += ms
  }

  /** The power is off for that long: the timers of before are lost. */
  loseTimers(ms: number): void {
    this.#timers = []
    this.#nowMs += ms
  }

  #fireNext(untilMs: number): boolean {
    const next = this.#timers.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
      undefined,
    )
    if (next === undefined || next.dueMs > untilMs) return false
    this.#timers = this.#timers.filter((timer) => timer !== next)
    this.#nowMs = Math.max(this.#nowMs, next.dueMs)
    next.callback()
    return true
  }
}

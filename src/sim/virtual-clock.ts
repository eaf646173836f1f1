// Time that stands still until told to go on. Everything in the simulator waits on these timers and nothing else, so a run
// is decided by its seed alone. This file is the one place of the simulator that asks the event loop for a turn.

import type { CancelTimer, Clock } from '../ports/clock.ts'

interface Timer {
  at: number
  order: number
  callback: (() => void) | undefined
}

export type RunEnd = 'until' | 'limit' | 'idle'

export interface RunOptions {
  /** Looked at after each timer and all that followed from it. */
  readonly until?: () => boolean
  /** At most this much virtual time from now. */
  readonly limitMs: number
}

/** Monday morning: a date a person recognises as pretended when it appears in a status. */
const defaultStart = Date.UTC(2026, 0, 5, 8)
/** What is left of a batch when a run ends goes round for nothing; a turn of the event loop costs about ten steps. */
const batchSize = 32
/** Over which timers are counted, to find who sets one after the other and gets nowhere. */
export const busyWindowMs = 10_000

export class VirtualClock implements Clock {
  readonly #startMs: number
  readonly #heap: Timer[] = []
  #elapsed = 0
  #order = 0
  #cancelled = 0
  #fired = 0
  #busiest = 0
  #window = { endMs: busyWindowMs, fired: 0 }

  constructor(options: { readonly startMs?: number } = {}) {
    this.#startMs = options.startMs ?? defaultStart
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsed)
  }

  nowMs(): number {
    return this.#startMs + this.#elapsed
  }

  monotonicMs(): number {
    return this.#elapsed
  }

  /** How many timers have fired so far. */
  get fired(): number {
    return this.#fired
  }

  /** The most timers that fired within one `busyWindowMs`. */
  get busiest(): number {
    return this.#busiest
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    const timer: Timer = { at: this.#elapsed + (delayMs > 0 ? delayMs : 0), order: this.#order++, callback }
    this.#push(timer)
    return () => {
      if (timer.callback === undefined) return
      timer.callback = undefined
      this.#cancelled++
      if (this.#cancelled > 1024 && this.#cancelled > this.#heap.length / 2) this.#compact()
    }
  }

  /** A process's own view: skewed wall clock, timers that die or pause with it. */
  scoped(options: { readonly skewMs?: number; readonly monotonicOffsetMs?: number } = {}): ScopedClock {
    return new ScopedClock(this, options.skewMs ?? 0, options.monotonicOffsetMs ?? 0)
  }

  /**
   * Fires timers in order until the predicate holds, nothing is left to do, or the time is over. Between two timers every
   * microtask drains: Node does that between two immediates, and a batch of them costs one turn of the event loop.
   */
  run(options: RunOptions): Promise<RunEnd> {
    const end = this.#elapsed + options.limitMs
    return new Promise((resolve, reject) => {
      let over = false
      const finish = (how: RunEnd): void => {
        over = true
        resolve(how)
      }
      const step = (): void => {
        if (over) return
        if (options.until?.()) {
          finish('until')
          return
        }
        const due = this.#next(end)
        if (due === undefined) {
          const idle = this.#heap.length === 0
          if (!idle) this.#elapsed = end
          finish(idle ? 'idle' : 'limit')
          return
        }
        try {
          due()
        } catch (error) {
          over = true
          reject(error)
        }
      }
      const batch = (): void => {
        if (over) return
        for (let i = 0; i < batchSize; i++) setImmediate(step)
        setImmediate(batch)
      }
      setImmediate(batch)
    })
  }

  #next(end: number): (() => void) | undefined {
    for (;;) {
      const timer = this.#heap[0]
      if (timer === undefined) return undefined
      if (timer.callback !== undefined && timer.at > end) return undefined
      this.#pop()
      if (timer.callback === undefined) {
        this.#cancelled--
        continue
      }
      const { callback } = timer
      timer.callback = undefined
      this.#elapsed = timer.at
      this.#count()
      return callback
    }
  }

  #count(): void {
    this.#fired++
    if (this.#elapsed >= this.#window.endMs) this.#window = { endMs: this.#elapsed + busyWindowMs, fired: 0 }
    this.#window.fired++
    if (this.#window.fired > this.#busiest) this.#busiest = this.#window.fired
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(timer)
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = heap[parentIndex] as Timer
      if (before(parent, timer)) break
      heap[index] = parent
      index = parentIndex
    }
    heap[index] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Timer
    if (heap.length > 0) this.#sink(0, last)
  }

  #sink(start: number, timer: Timer): void {
    const heap = this.#heap
    const size = heap.length
    let index = start
    for (;;) {
      let child = 2 * index + 1
      if (child >= size) break
      if (child + 1 < size && before(heap[child + 1] as Timer, heap[child] as Timer)) child++
      if (before(timer, heap[child] as Timer)) break
      heap[index] = heap[child] as Timer
      index = child
    }
    heap[index] = timer
  }

  #compact(): void {
    const live = this.#heap.filter((timer) => timer.callback !== undefined)
    this.#heap.length = 0
    for (const timer of live) this.#push(timer)
    this.#cancelled = 0
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** The clock of one process on one machine. */
export class ScopedClock implements Clock {
  readonly #clock: VirtualClock
  readonly #monotonicOffsetMs: number
  #skewMs: number
  #state: 'running' | 'frozen' | 'dead' = 'running'
  #missed: (() => void)[] = []

  constructor(clock: VirtualClock, skewMs: number, monotonicOffsetMs: number) {
    this.#clock = clock
    this.#skewMs = skewMs
    this.#monotonicOffsetMs = monotonicOffsetMs
  }

  now(): Date {
    return new Date(this.#clock.nowMs() + this.#skewMs)
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() + this.#monotonicOffsetMs
  }

  after(delayMs: number, callback: () => void): CancelTimer {
    if (this.#state === 'dead') return () => undefined
    let waiting = true
    // One closure for the world's timer and for the list of those that fell due while frozen.
    const fire = (): void => {
      if (this.#state === 'frozen') this.#missed.push(fire)
      else if (waiting && this.#state === 'running') callback()
    }
    const cancel = this.#clock.after(delayMs, fire)
    return () => {
      waiting = false
      cancel()
    }
  }

  get frozen(): boolean {
    return this.#state === 'frozen'
  }

  setSkew(skewMs: number): void {
    this.#skewMs = skewMs
  }

  /** No timer of this process ever fires again. */
  kill(): void {
    this.#state = 'dead'
    this.#missed = []
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen'
  }

  /** What fell due while frozen fires now, in its order, each with its own turn. */
  thaw(): void {
    if (this.#state !== 'frozen') return
    this.#state = 'running'
    const missed = this.#missed
    this.#missed = []
    for (const fire of missed) this.#clock.after(0, fire)
  }
}

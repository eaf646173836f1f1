import type { CancelTimer, Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { type BackOff, backOffMs } from './back-off.ts'
import type { Key } from './store.ts'

export interface WorkQueueOptions {
  readonly clock: Clock
  readonly random: Random
  readonly baseMs?: number
  readonly maxMs?: number
}

interface Delayed {
  readonly dueMs: number
  readonly cancel: CancelTimer
}

/** Keys to work on: each at most once in the queue and at most once in work; failures come back ever later. */
export class WorkQueue {
  readonly #clock: Clock
  readonly #random: Random
  readonly #backOff: BackOff
  readonly #queued = new Set<Key>()
  /** The order of `#queued`; taken from the front by moving `#head`, so that a long queue is not copied. */
  #order: Key[] = []
  #head = 0
  readonly #inWork = new Set<Key>()
  readonly #again = new Set<Key>()
  readonly #delayed = new Map<Key, Delayed>()
  readonly #failures = new Map<Key, number>()
  readonly #takers = new Set<() => void>()
  /** Whose end wakes the takers. */
  readonly #followed = new WeakSet<AbortSignal>()

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock
    this.#random = options.random
    this.#backOff = { baseMs: options.baseMs ?? 50, maxMs: options.maxMs ?? 30_000 }
  }

  /** Keys that could be worked on now. */
  get depth(): number {
    return this.#queued.size
  }

  add(key: Key): void {
    const delayed = this.#delayed.get(key)
    if (delayed !== undefined) {
      delayed.cancel()
      this.#delayed.delete(key)
    }
    if (this.#inWork.has(key)) {
      this.#again.add(key)
      return
    }
    if (this.#queued.has(key)) return
    this.#queued.add(key)
    this.#order.push(key)
    const taker = this.#takers.values().next()
    if (!taker.done) taker.value()
  }

  /** Adds the key when the time has passed; of several waits the earliest wins. */
  addAfter(key: Key, ms: number): void {
    if (ms <= 0) {
      this.add(key)
      return
    }
    if (this.#queued.has(key) || this.#again.has(key)) return
    const dueMs = this.#clock.monotonicMs() + ms
    const delayed = this.#delayed.get(key)
    if (delayed !== undefined) {
      if (delayed.dueMs <= dueMs) return
      delayed.cancel()
    }
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { dueMs, cancel })
  }

  /**
   * The key failed: it comes back after a wait, also if it was asked for while in work. Else work that wakes itself and
   * fails at once would go round for ever without letting anything else happen.
   */
  addRateLimited(key: Key): void {
    this.#again.delete(key)
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.addAfter(key, backOffMs(this.#backOff, failures, this.#random))
  }

  /** The key's failures are over: its next one waits the shortest time again. */
  forget(key: Key): void {
    this.#failures.delete(key)
  }

  /** The next key, when there is one; undefined when aborted. `done` must follow. */
  async get(signal: AbortSignal): Promise<Key | undefined> {
    while (!signal.aborted) {
      const key = this.#take()
      if (key !== undefined) return key
      await this.#filled(signal)
    }
    return undefined
  }

  done(key: Key): void {
    this.#inWork.delete(key)
    if (this.#again.delete(key)) this.add(key)
  }

  /** Forgets all keys and cancels their timers, when nobody takes from this queue any more. */
  clear(): void {
    for (const { cancel } of this.#delayed.values()) cancel()
    for (const all of [this.#delayed, this.#failures, this.#queued, this.#again]) all.clear()
    this.#order = []
    this.#head = 0
  }

  #take(): Key | undefined {
    const key = this.#order[this.#head]
    if (key === undefined) return undefined
    this.#head += 1
    if (this.#head === this.#order.length) {
      this.#order = []
      this.#head = 0
    } else if (this.#head > 1024 && this.#head * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#head)
      this.#head = 0
    }
    this.#queued.delete(key)
    this.#inWork.add(key)
    return key
  }

  #filled(signal: AbortSignal): Promise<void> {
    this.#follow(signal)
    return new Promise((resolve) => {
      const wake = () => {
        this.#takers.delete(wake)
        resolve()
      }
      this.#takers.add(wake)
    })
  }

  /** One listener for all the waits of a taker, not one for each. */
  #follow(signal: AbortSignal): void {
    if (this.#followed.has(signal)) return
    this.#followed.add(signal)
    const wakeAll = () => {
      for (const wake of [...this.#takers]) wake()
    }
    signal.addEventListener('abort', wakeAll, { once: true })
  }
}

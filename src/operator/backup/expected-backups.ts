// Updates that will want a backup in a moment, as far as can be told: only gates and the control plane are still looked at. A
// scheduled backup that begins just then would have the host, and the update its window no more.

import type { Clock } from '../../ports/clock.ts'

/** A gate may hold for hours, and a schedule must not wait for it so long. */
const patienceMs = 60_000
/** Not seen for so long, it is another time that is waited for: the next window, say. */
const forgottenMs = 120_000

interface Expected {
  readonly fromMs: number
  readonly seenMs: number
}

export class ExpectedBackups {
  readonly #clock: Clock
  readonly #updates = new Map<string, Expected>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is asked for by now, or needed no more, is not expected. */
  note(update: string, isExpected: boolean): void {
    if (!isExpected) {
      this.#updates.delete(update)
      return
    }
    const nowMs = this.#forgetOld()
    this.#updates.set(update, { fromMs: this.#updates.get(update)?.fromMs ?? nowMs, seenMs: nowMs })
  }

  /** Whether there is any, and until when others wait for it. */
  next(): { readonly untilMs: number } | undefined {
    const nowMs = this.#forgetOld()
    const left = [...this.#updates.values()].map(({ fromMs }) => fromMs + patienceMs - nowMs).filter((ms) => ms > 0)
    return left.length > 0 ? { untilMs: this.#clock.now().getTime() + Math.max(...left) } : undefined
  }

  /** Updates that are gone among them. Says what time it is. */
  #forgetOld(): number {
    const nowMs = this.#clock.monotonicMs()
    for (const [update, { seenMs }] of this.#updates) if (nowMs - seenMs > forgottenMs) this.#updates.delete(update)
    return nowMs
  }
}

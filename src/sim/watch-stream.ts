import { KubeError } from '../api/kube-error.ts'
import type { CancelTimer } from '../ports/clock.ts'
import type { WatchEvent } from '../ports/kube-api.ts'
import type { WatchFault } from './request-fault.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { StoredObject } from './server/stored-object.ts'
import type { ScopedClock, VirtualClock } from './virtual-clock.ts'

type Event = WatchEvent<StoredObject>

interface Travelling {
  readonly event: Event
  readonly dueMs: number
}

interface WatchStreamOptions {
  readonly wire: VirtualClock
  readonly clock: ScopedClock
  readonly random: SeededRandom
  readonly latencyMs: readonly [number, number]
  readonly version: () => string
  readonly onEvent: (event: Event) => void
  readonly faultOf: (() => WatchFault | undefined) | undefined
  readonly timeoutMs: number
}

const bookmarkEveryMs = 60_000

/** Events on their way to one watcher: in order, each with its own delay. */
export class WatchStream {
  readonly #options: WatchStreamOptions
  readonly #queue: Travelling[] = []
  readonly #endsAtMs: number
  #detach: () => void = () => undefined
  #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined
  #outcome: { readonly error?: unknown } | undefined
  #cancelDelivery: CancelTimer | undefined
  #cancelHousekeeping: CancelTimer = () => undefined
  #lastDueMs = 0
  #delivered: string | undefined
  #stalled = false
  #bookmarksOnlyUntilMs = 0

  constructor(options: WatchStreamOptions) {
    this.#options = options
    this.#endsAtMs = options.wire.monotonicMs() + options.timeoutMs
    this.#scheduleHousekeeping()
  }

  attach(detach: () => void): void {
    this.#detach = detach
    if (this.#outcome !== undefined) detach()
  }

  /** Called by the server with each event, synchronously with the commit. */
  push(event: Event): void {
    if (this.#outcome !== undefined || this.#stalled) return
    const fault = event.type === 'BOOKMARK' ? undefined : this.#options.faultOf?.()
    if (fault !== undefined && this.#suffer(fault, event)) return
    this.#send(event, 0)
  }

  /** Resolves when the server ends the stream, rejects when it breaks or the watcher gives up. */
  ended(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => this.#end({ error: signal.reason })
      const off = (): void => signal.removeEventListener('abort', aborted)
      this.#settle = {
        resolve: () => {
          off()
          resolve()
        },
        reject: (error) => {
          off()
          reject(error)
        },
      }
      if (this.#outcome !== undefined) this.#tellOutcome()
      else if (signal.aborted) aborted()
      else signal.addEventListener('abort', aborted, { once: true })
    })
  }

  fail(error: KubeError): void {
    this.#end({ error })
  }

  /** Silently: the process is gone. */
  close(): void {
    this.#settle = undefined
    this.#end({})
  }

  /** Whether the fault has dealt with the event. */
  #suffer(fault: WatchFault, event: Event): boolean {
    switch (fault.outcome) {
      case 'break':
        this.fail(new KubeError('Unreachable', 'the watch connection was reset'))
        return true
      case 'stall':
        this.#stalled = true
        return true
      case 'delay':
        this.#send(event, fault.ms)
        return true
      case 'bookmarks-only':
        this.#bookmarksOnlyUntilMs = this.#options.wire.monotonicMs() + fault.ms
        this.#send(event, fault.ms)
        return true
      case 'duplicate':
        this.#send(event, 0)
        return false
    }
  }

  #send(event: Event, extraMs: number): void {
    const { latencyMs, random, wire, clock } = this.#options
    if (latencyMs[1] === 0 && extraMs === 0 && this.#queue.length === 0 && !clock.frozen) {
      this.#deliver(event)
      return
    }
    const dueMs = Math.max(this.#lastDueMs, wire.monotonicMs() + random.between(latencyMs[0], latencyMs[1]) + extraMs)
    this.#lastDueMs = dueMs
    this.#queue.push({ event, dueMs })
    if (this.#cancelDelivery === undefined) this.#scheduleDelivery(dueMs)
  }

  #scheduleDelivery(dueMs: number): void {
    const { wire, clock } = this.#options
    this.#cancelDelivery = clock.after(dueMs - wire.monotonicMs(), () => this.#deliverDue())
  }

  #deliverDue(): void {
    this.#cancelDelivery = undefined
    const nowMs = this.#options.wire.monotonicMs()
    let count = 0
    for (const { event, dueMs } of this.#queue) {
      if (dueMs > nowMs || this.#outcome !== undefined) break
      count++
      this.#deliver(event)
    }
    this.#queue.splice(0, count)
    const [next] = this.#queue
    if (next !== undefined && this.#outcome === undefined) this.#scheduleDelivery(next.dueMs)
  }

  #deliver(event: Event): void {
    this.#delivered = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
    this.#options.onEvent(event)
  }

  /** One timer serves both: bookmarks about once a minute, and the end of the stream. */
  #scheduleHousekeeping(): void {
    const { wire, random, version } = this.#options
    const leftMs = this.#endsAtMs - wire.monotonicMs()
    const waitMs = bookmarkEveryMs * random.between(0.75, 1)
    this.#cancelHousekeeping = wire.after(Math.min(leftMs, waitMs), () => {
      if (this.#stalled) return
      if (leftMs <= waitMs) {
        this.#end({})
        return
      }
      if (wire.monotonicMs() < this.#bookmarksOnlyUntilMs) this.#lateBookmark()
      else this.push({ type: 'BOOKMARK', resourceVersion: version(), initialEventsEnd: false })
      this.#scheduleHousekeeping()
    })
  }

  /** Says only what is true: nothing but what was delivered. */
  #lateBookmark(): void {
    if (this.#delivered === undefined) return
    const event: Event = { type: 'BOOKMARK', resourceVersion: this.#delivered, initialEventsEnd: false }
    this.#options.clock.after(0, () => {
      if (this.#outcome === undefined) this.#options.onEvent(event)
    })
  }

  #end(outcome: { readonly error?: unknown }): void {
    if (this.#outcome !== undefined) return
    this.#outcome = outcome
    this.#detach()
    this.#cancelDelivery?.()
    this.#cancelHousekeeping()
    this.#tellOutcome()
  }

  #tellOutcome(): void {
    const settle = this.#settle
    if (settle === undefined || this.#outcome === undefined) return
    if ('error' in this.#outcome) settle.reject(this.#outcome.error)
    else settle.resolve()
  }
}

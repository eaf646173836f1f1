// Events for people (`kubectl describe`, the console). They are worth little compared with the work itself, so nothing
// here ever holds up or fails the caller: what cannot be sent is dropped, and said so in the log.

import { events, type KubeEvent, type ObjectReference } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { microTime } from './micro-time.ts'
import { WorkQueue } from './work-queue.ts'

const seriesMs = 10 * 60_000
const patchEveryMs = 60_000
const maxSeries = 2_000
const maxAttempts = 5
const flushMs = 3_000
const noteBytes = 1_024

export interface EventRecorderOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** `slipway.dev/operator` */
  readonly controller: string
  /** Which process: the pod's name. */
  readonly instance: string
  /** Where events of cluster-scoped objects go; the API server wants `default`. */
  readonly namespace: string
}

export interface RecordedEvent {
  readonly regarding: ObjectReference
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly related?: ObjectReference
}

/** The same thing said about the same object again and again. */
interface Series {
  readonly event: RecordedEvent
  readonly name: string
  readonly namespace: string
  readonly first: Date
  last: Date
  lastMs: number
  count: number
  /** What the API server has been told; 0 = not created yet. */
  sentCount: number
  sentMs: number
  attempts: number
}

export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new Map<string, Series>()
  readonly #queue: WorkQueue
  #dropped = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#queue = new WorkQueue({ clock: options.clock, random: options.random, baseMs: 500 })
  }

  record(event: RecordedEvent): void {
    const { clock, random } = this.#options
    const { regarding } = event
    const id = [
      regarding.uid ?? `${regarding.kind}/${regarding.name}`,
      event.type,
      event.reason,
      event.action,
      event.note,
    ].join('\n')
    const nowMs = clock.monotonicMs()
    const known = this.#series.get(id)
    if (known !== undefined && nowMs - known.lastMs < seriesMs) {
      known.count += 1
      known.last = clock.now()
      known.lastMs = nowMs
      this.#queue.addAfter(id, known.sentMs + patchEveryMs - nowMs)
      return
    }
    if (this.#series.size >= maxSeries) this.#forgetOld(nowMs)
    if (this.#series.size >= maxSeries) {
      this.#dropped += 1
      return
    }
    const now = clock.now()
    this.#series.set(id, {
      event,
      name: `${regarding.name.slice(0, 220)}.${random.uuid().replaceAll('-', '').slice(-16)}`,
      namespace: regarding.namespace ?? this.#options.namespace,
      first: now,
      last: now,
      lastMs: nowMs,
      count: 1,
      sentCount: 0,
      sentMs: nowMs,
      attempts: 0,
    })
    this.#queue.add(id)
  }

  /** Sends until aborted, then flushes what it can in a few seconds. */
  async run(signal: AbortSignal): Promise<void> {
    for (let id = await this.#queue.get(signal); id !== undefined; id = await this.#queue.get(signal)) {
      await this.#send(id, signal)
    }
    const flush = new AbortController()
    const cancel = this.#options.clock.after(flushMs, () => flush.abort())
    for (const [id, series] of this.#series) {
      if (flush.signal.aborted) break
      if (series.sentCount === 0) await this.#send(id, flush.signal)
    }
    cancel()
    this.#queue.clear()
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const series = this.#series.get(id)
    try {
      if (series !== undefined && series.sentCount < series.count) {
        const restMs = series.sentMs + patchEveryMs - this.#options.clock.monotonicMs()
        if (series.sentCount > 0 && restMs > 0) this.#queue.addAfter(id, restMs)
        else await this.#write(series, signal)
      }
      this.#queue.forget(id)
    } catch (error) {
      if (series === undefined || signal.aborted) return
      this.#failed(id, series, error)
    } finally {
      this.#queue.done(id)
      this.#sayDropped()
    }
  }

  async #write(series: Series, signal: AbortSignal): Promise<void> {
    const { api, clock, controller, instance } = this.#options
    const { event, name, namespace, count } = series
    const { regarding, related, type, reason, action } = event
    const repeated = count > 1 ? { series: { count, lastObservedTime: microTime(series.last) } } : {}
    if (series.sentCount === 0) {
      const object = {
        metadata: { name, namespace },
        eventTime: microTime(series.first),
        reportingController: controller,
        reportingInstance: instance.slice(0, 128),
        action,
        reason,
        type,
        note: cutToBytes(event.note, noteBytes),
        regarding,
        ...(related === undefined ? {} : { related }),
        ...repeated,
      }
      await api.create<KubeEvent>(events, object, signal).catch((error: unknown) => {
        // An earlier attempt that seemed to fail had taken effect.
        if (series.attempts === 0 || !isKubeError(error, 'AlreadyExists')) throw error
      })
    } else {
      await api.patch(events, { name, namespace }, { type: 'merge', body: repeated }, signal)
    }
    series.sentCount = count
    series.sentMs = clock.monotonicMs()
    series.attempts = 0
  }

  #failed(id: string, series: Series, error: unknown): void {
    series.attempts += 1
    const mayPass = isKubeError(
      error,
      'Unreachable',
      'Timeout',
      'ServerError',
      'TooManyRequests',
      'Conflict',
      'Unauthorized',
    )
    if (mayPass && series.attempts < maxAttempts) {
      this.#queue.addRateLimited(id)
      return
    }
    this.#series.delete(id)
    this.#queue.forget(id)
    const { regarding, reason } = series.event
    const code = isKubeError(error) ? error.code : 'Internal'
    this.#options.log.warn('event dropped', { code, reason, kind: regarding.kind, name: regarding.name, error })
  }

  #forgetOld(nowMs: number): void {
    for (const [id, series] of this.#series) {
      if (series.sentCount === series.count && nowMs - series.lastMs >= patchEveryMs) this.#series.delete(id)
    }
  }

  #sayDropped(): void {
    if (this.#dropped === 0) return
    this.#options.log.warn('events dropped, too many at once', { count: this.#dropped })
    this.#dropped = 0
  }
}

/** Cuts at a character, so that the result is valid UTF-8 of at most so many bytes. */
function cutToBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text
  const encoded = new TextEncoder().encode(text)
  if (encoded.length <= bytes) return text
  const cut = new TextDecoder().decode(encoded.subarray(0, bytes - 3))
  return `${cut.replace(/\uFFFD+$/, '')}…`
}

// Keeps a Store equal to what the API server has, through outages, restarts and lost connections; never stops by itself.

import type { KubeObject, ResourceType } from '../api/kube.ts'
import { isKubeError, KubeError } from '../api/kube-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi, Selection, WatchEvent } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { backOffMs } from './back-off.ts'
import { LinkedAbort } from './linked-abort.ts'
import { compareVersions } from './resource-version.ts'
import { sleep } from './sleep.ts'
import { keyOf, type Store } from './store.ts'

const pageSize = 500
const backOff = { baseMs: 100, maxMs: 30_000 }
/** Bookmarks come about once a minute; a stream silent for longer than this (and up to a third more) is dead. */
const silenceMs = 90_000
/** The server ends the stream after this long, up to twice as long: streams opened together do not end together. */
const streamSeconds = 300
/** A stream that lasted so long was healthy, even if nothing happened on it. */
const healthyMs = 5_000

export interface ReflectorOptions<T extends KubeObject> {
  readonly api: KubeApi
  readonly type: ResourceType<T>
  readonly selection?: Selection
  /** Cuts an object down to what is needed, on arrival: full objects never pile up. */
  readonly transform?: (object: T) => T
  readonly store: Store<T>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Ask for the first state as a stream, where the server serves that; true unless told. */
  readonly streamingList?: boolean
  /** After trouble it asks again, less and less often, but at least this often; half a minute unless told. */
  readonly retryAtMostMs?: number
  /** Told of each failure, and with undefined when the store is up to date again. */
  readonly onFailure?: (failure: unknown) => void
}

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #log: Log
  #streamingList: boolean
  /** Where the watch goes on; undefined = the whole state must be asked for. */
  #version: string | undefined
  #synced = false
  readonly #syncWaiters = new Set<() => void>()
  #aliveMs: number
  #heard = false
  #failures = 0
  #failure: unknown

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#log = options.log.with({ resource: options.type.plural })
    this.#streamingList = options.streamingList ?? true
    this.#aliveMs = options.clock.monotonicMs()
  }

  /** Lists and watches until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, retryAtMostMs = backOff.maxMs } = this.#options
    while (!signal.aborted) {
      let failure: unknown
      try {
        await this.#listAndWatch(signal)
      } catch (error) {
        failure = error
      }
      if (signal.aborted) return
      if (isKubeError(failure, 'Expired')) this.#version = undefined
      if (failure === undefined) continue
      this.#broke(failure)
      try {
        await sleep(clock, backOffMs({ ...backOff, maxMs: retryAtMostMs }, this.#failures, random), signal)
      } catch (error) {
        if (!signal.aborted) throw error
      }
    }
  }

  /** Resolves when the first full state is in the store. */
  synced(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#synced || signal.aborted) {
        if (this.#synced) resolve()
        else reject(signal.reason)
        return
      }
      const settle = () => {
        this.#syncWaiters.delete(settle)
        signal.removeEventListener('abort', settle)
        if (this.#synced) resolve()
        else reject(signal.reason)
      }
      this.#syncWaiters.add(settle)
      signal.addEventListener('abort', settle, { once: true })
    })
  }

  get isSynced(): boolean {
    return this.#synced
  }

  /** What keeps the store from being up to date now; undefined when nothing does. */
  get failure(): unknown {
    return this.#failure
  }

  /** How long ago the server was last heard of, in monotonic milliseconds. */
  silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#aliveMs
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#version === undefined) {
      if (this.#streamingList) {
        await this.#watch(signal, true)
        return
      }
      await this.#list(signal)
    }
    await this.#watch(signal, false)
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api, type, selection, transform } = this.#options
    const objects: T[] = []
    let continueToken: string | undefined
    do {
      const options = { ...selection, limit: pageSize, ...(continueToken === undefined ? {} : { continueToken }) }
      const page = await api.list(type, options, signal)
      for (const object of page.items) objects.push(transform === undefined ? object : transform(object))
      this.#aliveMs = this.#options.clock.monotonicMs()
      continueToken = page.continueToken
      if (continueToken === undefined) this.#fill(objects, page.resourceVersion)
    } while (continueToken !== undefined)
  }

  #fill(objects: Iterable<T>, version: string): void {
    this.#options.store.replaceAll(objects, version)
    this.#version = version
    this.#synced = true
    if (this.#failures > 0) this.#recovered()
    for (const settle of [...this.#syncWaiters]) settle()
  }

  async #watch(signal: AbortSignal, initialEvents: boolean): Promise<void> {
    const { api, type, selection, clock, random } = this.#options
    const stream = new LinkedAbort(signal)
    const startedMs = clock.monotonicMs()
    const stopGuard = this.#guard(stream, startedMs)
    const from = this.#version === undefined ? { initialEvents } : { resourceVersion: this.#version }
    const timeoutSeconds = Math.floor(streamSeconds * (1 + random.next()))
    this.#heard = false
    try {
      const receive = this.#receiver(stream)
      await api.watch(type, { ...selection, ...from, timeoutSeconds }, receive, stream.signal)
      if (this.#version === undefined) throw new KubeError('Unreachable', 'the stream ended before the state was whole')
      if (clock.monotonicMs() - startedMs >= healthyMs) this.#recovered()
      // A server that is going down ends streams in good order, at once, again and again.
      else if (!this.#heard) throw new KubeError('Unreachable', 'the stream ended as soon as it was opened')
    } catch (error) {
      if (this.#version === undefined && isNotServed(error)) {
        this.#log.info('a streaming list is not served here, listing by pages')
        this.#streamingList = false
        return
      }
      throw stream.signal.aborted ? stream.signal.reason : error
    } finally {
      stopGuard()
      // Whatever still comes on a stream that is over must not move the version on: it would hide what the next one brings.
      stream.abort('the stream is over')
    }
  }

  /** Ends the stream when nothing was heard on it for too long; one timer, however many events come. */
  #guard(stream: LinkedAbort, startedMs: number): () => void {
    const { clock, random } = this.#options
    const limitMs = silenceMs * (1 + random.next() / 3)
    const look = () => {
      const silentMs = clock.monotonicMs() - Math.max(this.#aliveMs, startedMs)
      if (silentMs >= limitMs) {
        stream.abort(new KubeError('Unreachable', `nothing heard on the watch for ${Math.round(silentMs / 1000)} s`))
      } else {
        cancel = clock.after(Math.max(1, Math.ceil(limitMs - silentMs)), look)
      }
    }
    let cancel = clock.after(limitMs, look)
    return () => cancel()
  }

  #receiver(stream: LinkedAbort): (event: WatchEvent<T>) => void {
    const { store, clock, transform } = this.#options
    /** The initial state as it arrives; it replaces the store's only when it is whole. */
    const initial = new Map<string, T>()
    return (event) => {
      if (stream.signal.aborted) return
      this.#aliveMs = clock.monotonicMs()
      this.#heard = true
      if (this.#failures > 0 && this.#version !== undefined) this.#recovered()
      if (event.type === 'BOOKMARK') {
        if (this.#version === undefined) {
          if (!event.initialEventsEnd) return
          this.#fill(initial.values(), event.resourceVersion)
          initial.clear()
        } else if (compareVersions(event.resourceVersion, this.#version) < 0) {
          stream.abort(new KubeError('Expired', 'the server went back in time: its state was restored'))
        } else {
          this.#version = event.resourceVersion
          store.advance(event.resourceVersion)
        }
        return
      }
      const key = keyOf(event.object)
      const version = event.object.metadata.resourceVersion
      if (this.#version === undefined) {
        if (event.type === 'DELETED') initial.delete(key)
        else initial.set(key, transform === undefined ? event.object : transform(event.object))
        return
      }
      if (compareVersions(version, this.#version) > 0) this.#version = version
      if (event.type === 'DELETED') store.remove(key, version)
      else store.upsert(transform === undefined ? event.object : transform(event.object))
    }
  }

  /** One line when it breaks, one when it is well again. */
  #broke(failure: unknown): void {
    this.#failures += 1
    this.#failure = failure
    const fields = { code: isKubeError(failure) ? failure.code : 'Internal', error: failure }
    if (this.#failures === 1) this.#log.info('watch interrupted, trying again', fields)
    else if (this.#failures === 3) this.#log.warn('watch keeps failing, trying again', fields)
    else this.#log.debug('watch failed', fields)
    this.#options.onFailure?.(failure)
  }

  #recovered(): void {
    if (this.#failures >= 3) this.#log.info('watch is well again')
    const hadFailed = this.#failures > 0
    this.#failures = 0
    this.#failure = undefined
    if (hadFailed) this.#options.onFailure?.(undefined)
  }
}

function isNotServed(error: unknown): boolean {
  return isKubeError(error) && (error.code === 'Invalid' || error.status === 400 || error.status === 422)
}

// One process's way to the API server: each request and each watch event takes its drawn time, may be lost on either leg,
// and dies or freezes with its process.

import type { KubeObject, ResourceType } from '../api/kube.ts'
import { nodes as nodeType, pods as podType } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import type {
  DeleteOptions,
  EvictOptions,
  KubeApi,
  ListPage,
  ObjectRef,
  Patch,
  Selection,
  SubResource,
  Unsaved,
  WatchEvent,
  WatchOptions,
} from '../ports/kube-api.ts'
import type { RequestCounter } from './request-counter.ts'
import type { FaultSource, RequestFault, RequestInfo, Verb } from './request-fault.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { StoredObject } from './server/stored-object.ts'
import { textPage } from './server/text-pages.ts'
import type { SentObject, SimApi } from './sim-api.ts'
import type { ScopedClock, VirtualClock } from './virtual-clock.ts'
import { WatchStream } from './watch-stream.ts'

export interface SimClientOptions {
  readonly name: string
  readonly server: SimApi
  /** The world's clock: what is on the wire goes on when the process does not. */
  readonly wire: VirtualClock
  readonly clock: ScopedClock
  readonly random: SeededRandom
  /** Drawn for each request (there and back) and each watch event; [0, 0] answers within the call. */
  readonly latencyMs: readonly [number, number]
  readonly counter: RequestCounter
  readonly faults?: FaultSource | undefined
  /** Ends the process this client belongs to. */
  readonly crash: () => void
}

export class SimClient implements KubeApi {
  readonly #options: SimClientOptions
  readonly #streams = new Set<WatchStream>()
  readonly #direct: boolean
  readonly #count: (verb: Verb) => void
  /** What to do for the requests under way when their signal is aborted: one listener serves them all. */
  readonly #givingUp = new WeakMap<AbortSignal, Set<() => void>>()
  #dead = false

  constructor(options: SimClientOptions) {
    this.#options = options
    this.#count = options.counter.counterOf(options.name)
    this.#direct = options.latencyMs[1] === 0
  }

  /** The process is gone: no call settles any more, no event arrives. */
  kill(): void {
    this.#dead = true
    for (const stream of this.#streams) stream.close()
    this.#streams.clear()
  }

  /** Every open watch ends with an error, as when the server goes away. */
  breakWatches(): void {
    for (const stream of [...this.#streams]) stream.fail(new KubeError('Unreachable', 'the connection was closed'))
  }

  get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, signal: AbortSignal): Promise<T> {
    const { server } = this.#options
    return this.#ask('get', type, ref, signal, () => typed(type, server.get(type, ref)))
  }

  list<T extends KubeObject>(
    type: ResourceType<T>,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    const { server } = this.#options
    return this.#ask('list', type, undefined, signal, () => typedPage(type, server.list(type, options)))
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    const { server, name } = this.#options
    const { metadata } = object
    const ref = { name: metadata.name ?? '', ...(metadata.namespace ? { namespace: metadata.namespace } : {}) }
    return this.#ask('create', type, ref, signal, () => typed(type, server.create(name, type, object as SentObject)))
  }

  replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T> {
    const { server, name } = this.#options
    const sent: KubeObject = object
    return this.#ask('replace', type, object.metadata, signal, () => {
      return typed(type, server.replace(name, type, sent as StoredObject, subResource))
    })
  }

  patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    signal: AbortSignal,
    subResource?: SubResource,
  ): Promise<T> {
    const { server, name } = this.#options
    return this.#ask('patch', type, ref, signal, () => typed(type, server.patch(name, type, ref, patch, subResource)))
  }

  delete<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const { server, name } = this.#options
    return this.#ask('delete', type, ref, signal, () => server.delete(name, type, ref, options))
  }

  evict(pod: ObjectRef, options: EvictOptions, signal: AbortSignal): Promise<void> {
    const { server, name } = this.#options
    return this.#ask('evict', podType, pod, signal, () => server.evict(name, pod, options))
  }

  serverVersion(signal: AbortSignal): Promise<string> {
    return this.#ask('version', nodeType, undefined, signal, () => this.#options.server.serverVersion())
  }

  async readLines(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    const lines = await this.#ask('read', nodeType, undefined, signal, () => textPage(path))
    for (const line of lines) onLine(line)
  }

  watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const info = this.#info('watch', type, undefined)
    const opened = this.#ask('watch', type, undefined, signal, () => {
      const { server, wire, clock, random, latencyMs, faults, crash } = this.#options
      const stream = new WatchStream({
        wire,
        clock,
        random,
        latencyMs,
        version: () => server.resourceVersion,
        onEvent: (event) => {
          if (event.type !== 'BOOKMARK' && faults?.onArrival?.(info)) crash()
          else onEvent(event as WatchEvent<T>)
        },
        faultOf: faults === undefined ? undefined : () => faults.onWatchEvent(info),
        timeoutMs: (options.timeoutSeconds ?? random.whole(1800, 3600)) * 1000,
      })
      try {
        stream.attach(server.watch(type, options, (event) => stream.push(event)))
      } catch (error) {
        stream.close()
        throw error
      }
      this.#streams.add(stream)
      return stream
    })
    return opened.then(async (stream) => {
      try {
        await stream.ended(signal)
      } finally {
        this.#streams.delete(stream)
      }
    })
  }

  #info(verb: Verb, type: ResourceType, ref: ObjectRef | undefined): RequestInfo {
    const write = verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'version' && verb !== 'read'
    return { client: this.#options.name, verb, type, name: ref?.name, namespace: ref?.namespace, write }
  }

  #ask<R>(
    verb: Verb,
    type: ResourceType,
    ref: ObjectRef | undefined,
    signal: AbortSignal,
    effect: () => R,
  ): Promise<R> {
    if (this.#dead) return never()
    if (signal.aborted) return Promise.reject(signal.reason)
    const { faults, clock } = this.#options
    this.#count(verb)
    const fault = faults?.onRequest(this.#info(verb, type, ref))
    if (fault !== undefined || !this.#direct || clock.frozen) return this.#travel(signal, effect, fault)
    try {
      return Promise.resolve(effect())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #travel<R>(signal: AbortSignal, effect: () => R, fault: RequestFault | undefined): Promise<R> {
    const { wire, clock, random, latencyMs, crash } = this.#options
    const oneWayMs = random.between(latencyMs[0], latencyMs[1]) / 2
    return new Promise((resolve, reject) => {
      const aborted = (): void => reject(signal.reason)
      const givingUp = this.#givingUpWith(signal)
      givingUp.add(aborted)
      const answer = (settle: () => void): void => {
        clock.after(oneWayMs, () => {
          givingUp.delete(aborted)
          settle()
        })
      }
      if (fault?.outcome === 'crash' && fault.effect === 'none') {
        crash()
        return
      }
      wire.after(oneWayMs, () => {
        // A request of a process that died meanwhile was sent in full, or it was not.
        if (this.#dead && random.chance(0.5)) return
        let settle: () => void
        try {
          const result = fault?.effect === 'none' ? undefined : effect()
          if (fault?.outcome === 'fail') throw fault.error
          settle = () => resolve(result as R)
        } catch (error) {
          settle = () => reject(error)
        }
        if (fault?.outcome === 'crash') crash()
        answer(settle)
      })
    })
  }

  #givingUpWith(signal: AbortSignal): Set<() => void> {
    const known = this.#givingUp.get(signal)
    if (known !== undefined) return known
    const all = new Set<() => void>()
    this.#givingUp.set(signal, all)
    signal.addEventListener(
      'abort',
      () => {
        for (const giveUp of all) giveUp()
        all.clear()
      },
      { once: true },
    )
    return all
  }
}

function never<R>(): Promise<R> {
  return new Promise(() => undefined)
}

/** The store keeps objects of every kind; the descriptor says which kind these are. */
function typed<T extends KubeObject>(_type: ResourceType<T>, object: KubeObject): T {
  return object as T
}

function typedPage<T extends KubeObject>(_type: ResourceType<T>, page: ListPage<KubeObject>): ListPage<T> {
  return page as ListPage<T>
}

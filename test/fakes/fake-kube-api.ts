import type { KubeObject, ResourceType } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import type {
  DeleteOptions,
  EvictOptions,
  KubeApi,
  ListPage,
  ObjectRef,
  Patch,
  Selection,
  Unsaved,
  WatchEvent,
  WatchOptions,
} from '../../src/ports/kube-api.ts'

export interface OpenWatch {
  readonly options: WatchOptions
  emit(event: WatchEvent<KubeObject>): void
  end(): void
  fail(error: unknown): void
}

/**
 * Just enough of an API server for one resource type to test the runtime itself: versions, compare-and-swap, watches the
 * test holds in its hand. `before` may throw to make a request fail, `after` to make it fail although it took effect.
 */
export class FakeKubeApi implements KubeApi {
  readonly objects = new Map<string, KubeObject>()
  readonly requests: string[] = []
  watches: OpenWatch[] = []
  pageSize = 500
  before: (request: string, options?: WatchOptions) => void = () => {}
  after: (request: string) => void = () => {}
  #version = 0

  get version(): string {
    return String(this.#version)
  }

  /** Writes an object as somebody else, and shows it to every watch. */
  put(object: {
    readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
    readonly [key: string]: unknown
  }): KubeObject {
    const key = this.#key(object.metadata)
    const before = this.objects.get(key)
    return this.#store(key, { uid: before?.metadata.uid ?? `uid-${this.#version}`, ...object.metadata }, object)
  }

  remove(key: string): void {
    const before = this.objects.get(key)
    if (before === undefined) throw new Error(`no ${key}`)
    this.objects.delete(key)
    this.#version += 1
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: this.version } }
    for (const watch of this.watches) watch.emit({ type: 'DELETED', object })
  }

  bookmark(resourceVersion = this.version): void {
    for (const watch of this.watches) watch.emit({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false })
  }

  async get<T extends KubeObject>(_type: ResourceType<T>, ref: ObjectRef, signal: AbortSignal): Promise<T> {
    return this.#answer('get', signal, () => this.#found(ref) as T)
  }

  async list<T extends KubeObject>(
    _type: ResourceType<T>,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    return this.#answer('list', signal, () => {
      const from = Number(options.continueToken ?? 0)
      const to = from + Math.min(this.pageSize, options.limit ?? 500)
      const all = [...this.objects.values()]
      const more = to < all.length ? { continueToken: String(to) } : {}
      return { items: all.slice(from, to) as T[], resourceVersion: this.version, ...more }
    })
  }

  async watch<T extends KubeObject>(
    _type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.requests.push('watch')
    this.before('watch', options)
    let open: OpenWatch | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        open = { options, emit: (event) => onEvent(event as WatchEvent<T>), end: resolve, fail: reject }
        this.watches.push(open)
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        if (options.initialEvents === true) {
          for (const object of this.objects.values()) open.emit({ type: 'ADDED', object })
          open.emit({ type: 'BOOKMARK', resourceVersion: this.version, initialEventsEnd: true })
        }
      })
    } finally {
      this.watches = this.watches.filter((other) => other !== open)
    }
  }

  async create<T extends KubeObject>(_type: ResourceType<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return this.#answer('create', signal, () => {
      const { name = '', namespace } = object.metadata
      const key = this.#key({ name, ...(namespace === undefined ? {} : { namespace }) })
      if (this.objects.has(key)) throw new KubeError('AlreadyExists', key, { status: 409 })
      return this.#store(key, { ...object.metadata, name, uid: `uid-${this.#version}` }, object) as T
    })
  }

  async replace<T extends KubeObject>(_type: ResourceType<T>, object: T, signal: AbortSignal): Promise<T> {
    return this.#answer('replace', signal, () => {
      const known = this.#found(object.metadata)
      if (known.metadata.resourceVersion !== object.metadata.resourceVersion) {
        throw new KubeError('Conflict', 'the object has been modified', { status: 409 })
      }
      return this.#store(this.#key(object.metadata), object.metadata, object) as T
    })
  }

  async patch<T extends KubeObject>(
    _type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#answer('patch', signal, () => {
      if (patch.type !== 'merge') throw new Error('only shallow merge patches here')
      const known = this.#found(ref)
      return this.#store(this.#key(ref), known.metadata, { ...known, ...patch.body }) as T
    })
  }

  async delete<T extends KubeObject>(
    _type: ResourceType<T>,
    ref: ObjectRef,
    _options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#answer('delete', signal, () => this.remove(this.#key(ref)))
  }

  async evict(pod: ObjectRef, _options: EvictOptions, signal: AbortSignal): Promise<void> {
    return this.#answer('evict', signal, () => this.remove(this.#key(pod)))
  }

  async serverVersion(): Promise<string> {
    return 'v0.0.0-fake'
  }

  async #answer<T>(request: string, signal: AbortSignal, work: () => T): Promise<T> {
    signal.throwIfAborted()
    this.requests.push(request)
    this.before(request)
    const answer = work()
    this.after(request)
    await Promise.resolve()
    return answer
  }

  #found(ref: ObjectRef): KubeObject {
    const found = this.objects.get(this.#key(ref))
    if (found === undefined) throw new KubeError('NotFound', ref.name, { status: 404 })
    return found
  }

  #store(key: string, metadata: object, object: object): KubeObject {
    this.#version += 1
    const type = this.objects.has(key) ? 'MODIFIED' : 'ADDED'
    const saved = { ...object, metadata: { ...metadata, resourceVersion: this.version } } as KubeObject
    this.objects.set(key, saved)
    for (const watch of [...this.watches]) watch.emit({ type, object: saved })
    return saved
  }

  #key(ref: ObjectRef): string {
    return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`
  }
}

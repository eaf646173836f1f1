import { type KubeObject, pods, type ResourceType } from '../../src/api/kube.ts'
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
import { isJsonObject, mergePatch } from '../../src/sim/server/json.ts'
import { parseFieldSelector, parseLabelSelector } from '../../src/sim/server/selectors.ts'

export interface OpenWatch {
  readonly type: ResourceType
  readonly options: WatchOptions
  emit(event: WatchEvent<KubeObject>): void
  end(): void
  fail(error: unknown): void
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'evict' | 'read'

/** As much of an object as a test cares about; the rest is filled in. */
interface Sketch {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string }
}

interface Change {
  readonly plural: string
  readonly version: number
  readonly event: WatchEvent<KubeObject>
}

/**
 * As much of an API server as tests of one component need, and watches the test holds in its hand: versions,
 * compare-and-swap, merge patches, selectors by name and label. What a cluster does by itself is the simulator's.
 */
export class FakeKubeApi implements KubeApi {
  readonly requests: Verb[] = []
  readonly created: KubeObject[] = []
  /** What the patches that were accepted said, without their preconditions. */
  readonly patches: unknown[] = []
  watches: OpenWatch[] = []
  pageSize = 500
  /** Whom the server takes the caller for. */
  userName = 'ana'
  /** Set to make every request fail. */
  failure: KubeError | undefined
  /** Set to keep the open watches from hearing what is written. */
  muted = false
  /** May throw, to make a request fail. */
  before: (verb: Verb, type: ResourceType, options?: WatchOptions) => void = () => {}
  /** May throw, to make a request fail although it took effect. */
  after: (verb: Verb) => void = () => {}
  /** What the server makes of a patched object, as one that prunes fields it does not know. */
  admit: (object: KubeObject) => KubeObject = (object) => object
  /** The pages of plain text. */
  readonly pages = new Map([
    ['/readyz?verbose', 'readyz check passed\n'],
    ['/metrics', ''],
  ])
  #version = 0
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #history: Change[] = []

  get version(): string {
    return String(this.#version)
  }

  stored<T extends KubeObject>(type: ResourceType<T>): readonly T[] {
    return [...this.#of(type).values()]
  }

  find<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): T | undefined {
    return this.#of(type).get(keyOf(ref))
  }

  found<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): T {
    const found = this.find(type, ref)
    if (!found) throw new KubeError('NotFound', `${type.plural} "${ref.name}" not found`, { status: 404 })
    return found
  }

  /** Writes objects as somebody else. */
  put<O extends Sketch>(type: ResourceType, ...objects: readonly O[]): this {
    for (const object of objects) {
      const uid = this.find(type, object.metadata)?.metadata.uid ?? `uid-${this.#version}`
      this.#store(type, { uid, ...object.metadata }, object)
    }
    return this
  }

  remove(type: ResourceType, ref: ObjectRef): void {
    const known = this.found(type, ref)
    this.#of(type).delete(keyOf(ref))
    this.#version += 1
    this.#tell(type, {
      type: 'DELETED',
      object: { ...known, metadata: { ...known.metadata, resourceVersion: this.version } },
    })
  }

  bookmark(resourceVersion = this.version): void {
    for (const watch of this.watches) watch.emit({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false })
  }

  breakWatches(error: unknown): void {
    for (const watch of [...this.watches]) watch.fail(error)
  }

  /** Every request fails from now on, and so does every open watch; ends with `failure = undefined`. */
  goAway(failure: KubeError): void {
    this.failure = failure
    this.breakWatches(failure)
  }

  async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, signal: AbortSignal): Promise<T> {
    return this.#answer('get', type, signal, () => this.found(type, ref))
  }

  async list<T extends KubeObject>(
    type: ResourceType<T>,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    return this.#answer('list', type, signal, () => {
      const from = Number(options.continueToken ?? 0)
      const to = from + Math.min(this.pageSize, options.limit ?? 500)
      const all = this.stored(type).filter(matcher(options))
      const more = to < all.length ? { continueToken: String(to) } : {}
      return { items: all.slice(from, to), resourceVersion: this.version, ...more }
    })
  }

  async watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#ask('watch', type, options)
    const matches = matcher(options)
    const emit = (event: WatchEvent<KubeObject>) => {
      if (event.type === 'BOOKMARK' || matches(event.object)) onEvent(event as WatchEvent<T>)
    }
    let stop = () => {}
    let open: OpenWatch | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        stop = () => reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        open = { type, options, emit, end: resolve, fail: reject }
        this.watches.push(open)
        this.#tellPast(open)
      })
    } finally {
      signal.removeEventListener('abort', stop)
      this.watches = this.watches.filter((other) => other !== open)
    }
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
    return this.#answer('create', type, signal, () => {
      const { name = '', namespace } = object.metadata
      const ref = { name, ...(namespace === undefined ? {} : { namespace }) }
      // A question in the form of an object: nothing is kept.
      if (type.plural === 'selfsubjectreviews') {
        const answer: object = { ...object, status: { userInfo: { username: this.userName } } }
        return answer as T
      }
      // Nobody names a review; this server allows everything.
      const isReview = type.kind.endsWith('AccessReview')
      if (!isReview && this.find(type, ref))
        throw new KubeError('AlreadyExists', `${keyOf(ref)} already exists`, { status: 409 })
      const filledIn = { uid: `uid-${this.#version}`, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' }
      const answered = isReview ? { ...object, status: { allowed: true } } : object
      const saved = this.#store(type, { ...filledIn, ...object.metadata, ...ref }, answered)
      this.created.push(saved)
      return saved
    })
  }

  async replace<T extends KubeObject>(type: ResourceType<T>, object: T, signal: AbortSignal): Promise<T> {
    return this.#answer('replace', type, signal, () => {
      mustMatch(this.found(type, object.metadata), object.metadata)
      return this.#store(type, object.metadata, object)
    })
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    return this.#answer('patch', type, signal, () => {
      if (patch.type !== 'merge') throw new Error('only merge patches here')
      const known = this.found(type, ref)
      const { metadata, ...body } = patch.body
      mustMatch(known, isJsonObject(metadata) ? metadata : {})
      this.patches.push(body)
      const next = this.admit(mergePatch(known, patch.body) as T)
      return this.#store(type, next.metadata, next)
    })
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    _options: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    return this.#answer('delete', type, signal, () => this.remove(type, ref))
  }

  async evict(pod: ObjectRef, _options: EvictOptions, signal: AbortSignal): Promise<void> {
    return this.#answer('evict', pods, signal, () => this.remove(pods, pod))
  }

  async serverVersion(): Promise<string> {
    return 'v1.35.4'
  }

  async readLines(path: string, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    const page = await this.#answer('read', pods, signal, () => this.pages.get(path))
    if (page === undefined) throw new KubeError('NotFound', `${path} not found`, { status: 404 })
    for (const line of page.split('\n')) if (line !== '') onLine(line)
  }

  #ask(verb: Verb, type: ResourceType, options?: WatchOptions): void {
    this.requests.push(verb)
    if (this.failure) throw this.failure
    this.before(verb, type, options)
  }

  async #answer<T>(verb: Verb, type: ResourceType, signal: AbortSignal, work: () => T): Promise<T> {
    signal.throwIfAborted()
    this.#ask(verb, type)
    const answer = work()
    this.after(verb)
    await Promise.resolve()
    return answer
  }

  #of<T extends KubeObject>(type: ResourceType<T>): Map<string, T> {
    const objects = this.#objects.get(type.plural) ?? new Map<string, KubeObject>()
    this.#objects.set(type.plural, objects)
    return objects as Map<string, T>
  }

  #store<T extends KubeObject>(type: ResourceType<T>, metadata: ObjectRef, object: object): T {
    this.#version += 1
    const event = this.find(type, metadata) ? 'MODIFIED' : 'ADDED'
    const saved = { ...object, metadata: { ...metadata, resourceVersion: this.version } } as T
    this.#of(type).set(keyOf(metadata), saved)
    this.#tell(type, { type: event, object: saved })
    return saved
  }

  #tell({ plural }: ResourceType, event: WatchEvent<KubeObject>): void {
    this.#history.push({ plural, version: this.#version, event })
    if (this.muted) return
    for (const watch of [...this.watches]) if (watch.type.plural === plural) watch.emit(event)
  }

  /** What a new watch has missed: all there is, or what was written since its version. */
  #tellPast({ type, options, emit }: OpenWatch): void {
    if (options.initialEvents === true) {
      for (const object of this.stored(type)) emit({ type: 'ADDED', object })
      emit({ type: 'BOOKMARK', resourceVersion: this.version, initialEventsEnd: true })
    } else {
      const since = Number(options.resourceVersion ?? this.version)
      for (const { plural, version, event } of [...this.#history]) {
        if (plural === type.plural && version > since) emit(event)
      }
    }
  }
}

function keyOf({ name, namespace }: ObjectRef): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The uid and version a write may name have to be those of the object. */
function mustMatch(known: KubeObject, named: { readonly uid?: unknown; readonly resourceVersion?: unknown }): void {
  const { uid, resourceVersion } = known.metadata
  if ((named.uid ?? uid) === uid && (named.resourceVersion ?? resourceVersion) === resourceVersion) return
  throw new KubeError('Conflict', 'the object has been modified', { status: 409 })
}

const fieldValues: Readonly<Record<string, (object: KubeObject & { readonly spec?: unknown }) => unknown>> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'spec.nodeName': ({ spec }) => (isJsonObject(spec) ? spec.nodeName : undefined),
}

function matcher({ namespace, labelSelector, fieldSelector }: Selection): (object: KubeObject) => boolean {
  const labels = parseLabelSelector(labelSelector ?? '')
  const [field, ...others] = parseFieldSelector(fieldSelector ?? '')
  const read = field && fieldValues[field.field]
  if (others.length > 0 || (field && !read)) throw new Error(`${fieldSelector}: only names here`)
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (field === undefined || read?.(object) === field.value) &&
    labels(object.metadata.labels)
}

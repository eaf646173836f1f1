// A KubeApi over a list of objects, for tests of commands: reads, watches and creates; nothing else is asked of it.

import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { selects } from '../../core/label-selector.ts'
import type { KubeApi, ListPage, Selection, Unsaved, WatchEvent, WatchOptions } from '../../ports/kube-api.ts'
import { parseSelector } from '../label-selector.ts'

interface Watcher {
  readonly plural: string
  readonly matches: (object: KubeObject) => boolean
  readonly tell: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject) => void
  readonly end: (error?: Error) => void
}

export class ListedApi implements KubeApi {
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #watchers = new Set<Watcher>()
  readonly created: KubeObject[] = []
  /** Set to make every call fail. */
  failure: KubeError | undefined
  /** Kinds this server does not know. */
  readonly missingKinds = new Set<string>()

  put<T extends KubeObject>(type: ResourceType<T>, ...objects: readonly T[]): this {
    for (const object of objects) {
      const known = this.#of(type).has(keyOf(object))
      this.#of(type).set(keyOf(object), object)
      this.#tell(type, known ? 'MODIFIED' : 'ADDED', object)
    }
    return this
  }

  drop<T extends KubeObject>(type: ResourceType<T>, object: T): void {
    this.#of(type).delete(keyOf(object))
    this.#tell(type, 'DELETED', object)
  }

  breakWatches(error: Error): void {
    for (const watcher of [...this.#watchers]) watcher.end(error)
  }

  async get<T extends KubeObject>(type: ResourceType<T>, ref: { name: string; namespace?: string }): Promise<T> {
    this.#check(type)
    const found = this.#of(type).get(ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`)
    if (!found) throw new KubeError('NotFound', `${type.plural} "${ref.name}" not found`, { status: 404 })
    return found
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: Selection): Promise<ListPage<T>> {
    this.#check(type)
    const items = [...this.#of(type).values()].filter(matcher(options))
    return { items, resourceVersion: '1' }
  }

  watch<T extends KubeObject>(
    type: ResourceType<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#check(type)
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        this.#watchers.delete(watcher)
        signal.removeEventListener('abort', onAbort)
        if (error) reject(error)
        else resolve()
      }
      const onAbort = () => end()
      const watcher: Watcher = {
        plural: type.plural,
        matches: matcher(options),
        tell: (change, object) => {
          const current = this.#of(type).get(keyOf(object))
          onEvent({ type: change, object: current ?? last(object) })
        },
        end,
      }
      const seen = new Map([...this.#of(type)])
      const last = (object: KubeObject): T => {
        const known = seen.get(keyOf(object))
        if (!known) throw new Error('a watch told of an object that was never there')
        return known
      }
      this.#watchers.add(watcher)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: Unsaved<T>): Promise<T> {
    this.#check(type)
    const { name = '', namespace } = object.metadata
    const key = namespace === undefined ? name : `${namespace}/${name}`
    if (this.#of(type).has(key)) throw new KubeError('AlreadyExists', `${type.plural} "${name}" already exists`)
    const metadata = {
      uid: `uid-${name}`,
      resourceVersion: '2',
      generation: 1,
      creationTimestamp: '2026-11-15T12:00:00Z',
    }
    const saved = JSON.parse(JSON.stringify({ ...object, metadata: { ...metadata, ...object.metadata } }))
    this.created.push(saved)
    this.put(type, saved)
    return saved
  }

  async serverVersion(): Promise<string> {
    return 'v1.35.4'
  }

  replace = unasked
  patch = unasked
  delete = unasked
  evict = unasked

  #check(type: ResourceType): void {
    if (this.failure) throw this.failure
    if (this.missingKinds.has(type.kind)) throw new KubeError('NotFound', '404 page not found', { status: 404 })
  }

  #of<T extends KubeObject>(type: ResourceType<T>): Map<string, T> {
    const objects = this.#objects.get(type.plural) ?? new Map<string, T>()
    this.#objects.set(type.plural, objects)
    return objects as Map<string, T>
  }

  #tell(type: ResourceType, change: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    for (const watcher of this.#watchers) {
      if (watcher.plural === type.plural && watcher.matches(object)) watcher.tell(change, object)
    }
  }
}

function unasked(): Promise<never> {
  return Promise.reject(new Error('the command line never does this'))
}

function keyOf({ metadata }: KubeObject): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
}

function matcher({ namespace, labelSelector, fieldSelector }: Selection): (object: KubeObject) => boolean {
  const labels = labelSelector === undefined ? undefined : parseSelector(labelSelector)
  const name = fieldSelector?.replace(/^metadata\.name=/, '')
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    selects(labels, metadata.labels)
}

// What we know of one resource type. Its state only ever goes forward: an event that is older than what is known (a late
// or repeated one, or one that our own write's answer has overtaken) changes nothing.

import type { KubeObject } from '../api/kube.ts'
import { compareVersions } from './resource-version.ts'

/** `name`, or `namespace/name`. */
export type Key = string

export function keyOf(object: KubeObject): Key {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

export type Change<T> =
  | { readonly type: 'added'; readonly key: Key; readonly object: T }
  | { readonly type: 'changed'; readonly key: Key; readonly object: T; readonly before: T }
  /** The last known state. */
  | { readonly type: 'removed'; readonly key: Key; readonly object: T }

export interface StoreOptions<T> {
  /** Named functions from an object to the values it is found by. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>
}

interface Index<T> {
  readonly valuesOf: (object: T) => readonly string[]
  readonly entries: Map<string, Map<Key, T>>
}

export class Store<T extends KubeObject> {
  readonly #objects = new Map<Key, T>()
  readonly #indexes = new Map<string, Index<T>>()
  readonly #listeners = new Set<(change: Change<T>) => void>()
  /** Known from our own writes only; the watch has not shown them yet. */
  readonly #learned = new Set<Key>()
  /** Everything up to this version has been shown by list and watch. */
  #seenVersion = ''

  constructor(options: StoreOptions<T> = {}) {
    for (const [name, valuesOf] of Object.entries(options.indexes ?? {})) {
      this.#indexes.set(name, { valuesOf, entries: new Map() })
    }
  }

  get(key: Key): T | undefined {
    return this.#objects.get(key)
  }

  values(): IterableIterator<T> {
    return this.#objects.values()
  }

  get size(): number {
    return this.#objects.size
  }

  byIndex(index: string, value: string): readonly T[] {
    const known = this.#indexes.get(index)
    if (known === undefined) throw new RangeError(`this store has no index "${index}"`)
    const found = known.entries.get(value)
    return found === undefined ? [] : [...found.values()]
  }

  /** Calls the listener synchronously for each change, in order; returns the way to stop that. */
  subscribe(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** From the watch: the object is, or has become, this. */
  upsert(object: T): void {
    const key = keyOf(object)
    const before = this.#objects.get(key)
    this.advance(object.metadata.resourceVersion)
    if (before !== undefined) {
      const order = compareVersions(object.metadata.resourceVersion, before.metadata.resourceVersion)
      if (order < 0) return
      if (order === 0) {
        // The watch shows what we learned from our own write: no news, but it may be the transformed, smaller copy.
        if (this.#learned.delete(key)) this.#put(key, object, before)
        return
      }
    }
    this.#learned.delete(key)
    this.#accept(key, object, before)
  }

  /** From the watch: the object was deleted, at that version where it is known. */
  remove(key: Key, resourceVersion?: string): void {
    const before = this.#objects.get(key)
    if (resourceVersion !== undefined) {
      this.advance(resourceVersion)
      if (before !== undefined && compareVersions(resourceVersion, before.metadata.resourceVersion) < 0) return
    }
    if (before !== undefined) this.#drop(key, before)
  }

  /** From a list: these are all there are, as of that version. What is known and not among them has been removed. */
  replaceAll(objects: Iterable<T>, resourceVersion?: string): void {
    const next = new Map<Key, T>()
    for (const object of objects) next.set(keyOf(object), object)
    // A list is the truth even if it goes back in time (etcd restored); only our own writes made since are ahead of it.
    const isAhead = (key: Key, before: T) =>
      resourceVersion !== undefined &&
      this.#learned.has(key) &&
      compareVersions(before.metadata.resourceVersion, resourceVersion) > 0
    const kept = new Set<Key>()
    for (const [key, before] of this.#objects) {
      if (isAhead(key, before)) kept.add(key)
      else if (!next.has(key)) this.#drop(key, before)
    }
    this.#learned.clear()
    this.#seenVersion = resourceVersion ?? ''
    for (const [key, object] of next) {
      if (kept.has(key)) continue
      const before = this.#objects.get(key)
      if (before !== undefined && isSame(before, object)) this.#put(key, object, before)
      else this.#accept(key, object, before)
    }
  }

  /** From a bookmark: nothing else happened up to this version. */
  advance(resourceVersion: string): void {
    if (compareVersions(resourceVersion, this.#seenVersion) > 0) this.#seenVersion = resourceVersion
  }

  /**
   * Learns the answer to one's own write at once, so that the next reconcile does not act on the past. Ignored if
   * something newer is known, also if that is the object's deletion. The object must be one this store's watch selects.
   */
  learn(object: T): void {
    const key = keyOf(object)
    const { resourceVersion } = object.metadata
    const before = this.#objects.get(key)
    const known = before?.metadata.resourceVersion ?? this.#seenVersion
    if (compareVersions(resourceVersion, known) <= 0) return
    this.#learned.add(key)
    this.#accept(key, object, before)
  }

  #accept(key: Key, object: T, before: T | undefined): void {
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      this.#drop(key, before)
      this.#accept(key, object, undefined)
      return
    }
    this.#put(key, object, before)
    this.#tell(before === undefined ? { type: 'added', key, object } : { type: 'changed', key, object, before })
  }

  #put(key: Key, object: T, before: T | undefined): void {
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      const values = index.valuesOf(object)
      if (before !== undefined) {
        for (const old of index.valuesOf(before)) if (!values.includes(old)) removeEntry(index, old, key)
      }
      for (const value of values) {
        const entry = index.entries.get(value)
        if (entry === undefined) index.entries.set(value, new Map([[key, object]]))
        else entry.set(key, object)
      }
    }
  }

  #drop(key: Key, before: T): void {
    this.#objects.delete(key)
    this.#learned.delete(key)
    for (const index of this.#indexes.values()) {
      for (const value of index.valuesOf(before)) removeEntry(index, value, key)
    }
    this.#tell({ type: 'removed', key, object: before })
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change)
  }
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion
}

function removeEntry<T>(index: Index<T>, value: string, key: Key): void {
  const entry = index.entries.get(value)
  if (entry === undefined) return
  entry.delete(key)
  if (entry.size === 0) index.entries.delete(value)
}

import type { ResourceType } from '../../api/kube.ts'
import type { KindRules } from './kind-rules.ts'
import { isSelected, type Selected } from './selected.ts'
import type { StoredObject } from './stored-object.ts'

/** One committed change, as watches replay it: exactly one of before and after is absent for a creation or a deletion. */
export interface TableChange {
  readonly version: number
  readonly before: StoredObject | undefined
  /** For a deletion: the last state, with the version of the deletion. */
  readonly last: StoredObject
  readonly deleted: boolean
}

/** The objects of one kind with their recent history. */
export class ResourceTable {
  readonly type: ResourceType
  readonly rules: KindRules
  readonly #byNamespace = new Map<string, Map<string, StoredObject>>()
  readonly #byNode = new Map<string, Set<StoredObject>>()
  readonly #historyLimit: number
  #history: TableChange[] = []
  /** Changes up to this version may be forgotten. */
  #forgotten = 0

  constructor(type: ResourceType, rules: KindRules, historyLimit: number) {
    this.type = type
    this.rules = rules
    this.#historyLimit = historyLimit
  }

  get(namespace: string | undefined, name: string): StoredObject | undefined {
    return this.#byNamespace.get(namespace ?? '')?.get(name)
  }

  inNamespace(namespace: string): Iterable<StoredObject> {
    return this.#byNamespace.get(namespace)?.values() ?? []
  }

  *all(): Iterable<StoredObject> {
    for (const objects of this.#byNamespace.values()) yield* objects.values()
  }

  /** In the order of the keys, as etcd holds them. */
  list(selected: Selected): readonly StoredObject[] {
    const found: StoredObject[] = []
    for (const object of this.#candidates(selected)) if (isSelected(selected, object)) found.push(object)
    return found.sort(byKey)
  }

  apply(change: TableChange): void {
    const { before, last, deleted } = change
    const namespace = last.metadata.namespace ?? ''
    let objects = this.#byNamespace.get(namespace)
    if (objects === undefined) {
      objects = new Map()
      this.#byNamespace.set(namespace, objects)
    }
    if (deleted) objects.delete(last.metadata.name)
    else objects.set(last.metadata.name, last)
    if (objects.size === 0) this.#byNamespace.delete(namespace)
    this.#indexNode(before, deleted ? undefined : last)
    this.#history.push(change)
    if (this.#history.length > 2 * this.#historyLimit) {
      this.#forget(this.#history.length - this.#historyLimit)
    }
  }

  /** Holds exactly these, and no history of how it came to them. */
  reset(objects: readonly StoredObject[], version: number): void {
    this.#byNamespace.clear()
    this.#byNode.clear()
    for (const last of objects) this.apply({ version, before: undefined, last, deleted: false })
    this.compact(version)
  }

  /** The changes after that version; undefined when some of them are forgotten. */
  since(version: number): readonly TableChange[] | undefined {
    if (version < this.#forgotten) return undefined
    let low = 0
    let high = this.#history.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#history[middle] as TableChange).version <= version) low = middle + 1
      else high = middle
    }
    return this.#history.slice(low)
  }

  /** Forgets every change up to that version, as a compaction does. */
  compact(version: number): void {
    this.#history = []
    this.#forgotten = version
  }

  #forget(count: number): void {
    this.#forgotten = (this.#history[count - 1] as TableChange).version
    this.#history = this.#history.slice(count)
  }

  #candidates(selected: Selected): Iterable<StoredObject> {
    if (selected.name !== undefined && (selected.namespace !== undefined || !this.type.namespaced)) {
      const one = this.get(selected.namespace, selected.name)
      return one === undefined ? [] : [one]
    }
    if (selected.nodeName) return this.#byNode.get(selected.nodeName) ?? []
    return selected.namespace === undefined ? this.all() : this.inNamespace(selected.namespace)
  }

  #indexNode(before: StoredObject | undefined, after: StoredObject | undefined): void {
    const left = nodeNameOf(before)
    const joined = nodeNameOf(after)
    if (left !== undefined && before !== undefined) {
      const onNode = this.#byNode.get(left)
      onNode?.delete(before)
      if (onNode?.size === 0 && left !== joined) this.#byNode.delete(left)
    }
    if (joined !== undefined && after !== undefined) {
      const onNode = this.#byNode.get(joined)
      if (onNode === undefined) this.#byNode.set(joined, new Set([after]))
      else onNode.add(after)
    }
  }
}

/** The node an object is bound to: only pods have one. */
export function nodeNameOf(object: StoredObject | undefined): string | undefined {
  const name = object?.spec?.nodeName
  return typeof name === 'string' && name !== '' ? name : undefined
}

function byKey(a: StoredObject, b: StoredObject): number {
  const left = a.metadata
  const right = b.metadata
  if (left.namespace !== right.namespace) return (left.namespace ?? '') < (right.namespace ?? '') ? -1 : 1
  return left.name < right.name ? -1 : 1
}

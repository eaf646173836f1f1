// What a real cluster's controller manager does behind the API: objects whose owners are all gone go too (by uid), a
// foreground or orphaning delete is finished, and a namespace being deleted is emptied.

import type { OwnerReference } from '../../api/kube.ts'
import type { Clock } from '../../ports/clock.ts'
import { deleteObject, foregroundFinalizer, orphanFinalizer } from './deletion.ts'
import type { CommittedChange, ObjectStore } from './object-store.ts'
import type { ResourceTable } from './resource-table.ts'
import type { StoredObject } from './stored-object.ts'

const client = 'garbage-collector'

interface Located {
  readonly table: ResourceTable
  readonly namespace: string | undefined
  readonly name: string
}

export class GarbageCollector {
  readonly #store: ObjectStore
  readonly #clock: Clock
  readonly #delayMs: number
  readonly #removeFinalizer: (table: ResourceTable, object: StoredObject, finalizer: string) => void
  readonly #live = new Set<string>()
  /** Owner uid to the objects that name it, by their uid. */
  readonly #dependents = new Map<string, Map<string, Located>>()
  /** Objects that wait for their dependents to go, by uid. */
  readonly #foreground = new Map<string, StoredObject>()

  constructor(options: {
    readonly store: ObjectStore
    readonly clock: Clock
    readonly delayMs: number
    readonly removeFinalizer: (table: ResourceTable, object: StoredObject, finalizer: string) => void
  }) {
    this.#store = options.store
    this.#clock = options.clock
    this.#delayMs = options.delayMs
    this.#removeFinalizer = options.removeFinalizer
    options.store.onCommit((change) => this.#see(change))
  }

  #see({ type, before, after }: CommittedChange): void {
    const seen = after ?? before
    if (seen === undefined) return
    const object = seen as StoredObject
    const { uid, namespace } = object.metadata
    const ownersBefore = before?.metadata.ownerReferences
    const ownersAfter = after?.metadata.ownerReferences
    if (type === 'created') this.#live.add(uid)
    if (type === 'deleted') {
      this.#live.delete(uid)
      this.#foreground.delete(uid)
    }
    if (ownersBefore !== ownersAfter) this.#index(object, ownersBefore ?? [], ownersAfter ?? [])
    if (type === 'created' && ownersAfter?.some((owner) => !this.#live.has(owner.uid)))
      this.#later(() => this.#judge(object))
    if (type === 'deleted') {
      if (this.#dependents.has(uid)) this.#later(() => this.#collect(uid))
      for (const owner of ownersBefore ?? []) this.#laterForOwner(owner)
      if (namespace !== undefined && this.#terminating(namespace)) this.#later(() => this.#emptyNamespace(namespace))
      return
    }
    const started = object.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined
    if (!started) return
    if (object.kind === 'Namespace') this.#later(() => this.#emptyNamespace(object.metadata.name))
    else if (object.metadata.finalizers?.includes(foregroundFinalizer)) {
      this.#foreground.set(uid, object)
      this.#later(() => this.#finishForeground(object))
    } else if (object.metadata.finalizers?.includes(orphanFinalizer)) this.#later(() => this.#finishOrphan(object))
  }

  #later(work: () => void): void {
    this.#clock.after(this.#delayMs, work)
  }

  #laterForOwner(owner: OwnerReference): void {
    const waiting = this.#foreground.get(owner.uid)
    if (owner.blockOwnerDeletion === true && waiting !== undefined) this.#later(() => this.#finishForeground(waiting))
  }

  #index(object: StoredObject, left: readonly OwnerReference[], joined: readonly OwnerReference[]): void {
    const { uid, namespace, name } = object.metadata
    for (const owner of left) {
      const dependents = this.#dependents.get(owner.uid)
      dependents?.delete(uid)
      if (dependents?.size === 0) this.#dependents.delete(owner.uid)
    }
    for (const owner of joined) {
      let dependents = this.#dependents.get(owner.uid)
      if (dependents === undefined) {
        dependents = new Map()
        this.#dependents.set(owner.uid, dependents)
      }
      dependents.set(uid, { table: this.#store.tableOf(object), namespace, name })
    }
  }

  #collect(ownerUid: string): void {
    for (const dependent of this.#dependentsOf(ownerUid)) this.#judge(dependent)
  }

  #dependentsOf(ownerUid: string): readonly StoredObject[] {
    const located = [...(this.#dependents.get(ownerUid)?.entries() ?? [])]
    return located.flatMap(([uid, { table, namespace, name }]) => {
      const object = table.get(namespace, name)
      return object?.metadata.uid === uid ? [object] : []
    })
  }

  #judge(seen: StoredObject): void {
    const table = this.#store.tableOf(seen)
    const object = table.get(seen.metadata.namespace, seen.metadata.name)
    if (object === undefined || object.metadata.uid !== seen.metadata.uid) return
    const owners = object.metadata.ownerReferences ?? []
    if (owners.length === 0 || owners.some((owner) => this.#live.has(owner.uid))) return
    this.#delete(table, object)
  }

  #finishForeground(seen: StoredObject): void {
    const table = this.#store.tableOf(seen)
    const object = table.get(seen.metadata.namespace, seen.metadata.name)
    if (object === undefined || object.metadata.uid !== seen.metadata.uid) return
    const dependents = this.#dependentsOf(object.metadata.uid)
    for (const dependent of dependents) {
      if (dependent.metadata.deletionTimestamp === undefined) this.#delete(this.#store.tableOf(dependent), dependent)
    }
    const blocking = this.#dependentsOf(object.metadata.uid).some((dependent) =>
      dependent.metadata.ownerReferences?.some(
        (owner) => owner.uid === object.metadata.uid && owner.blockOwnerDeletion === true,
      ),
    )
    if (!blocking) this.#removeFinalizer(table, object, foregroundFinalizer)
  }

  #finishOrphan(seen: StoredObject): void {
    const table = this.#store.tableOf(seen)
    const object = table.get(seen.metadata.namespace, seen.metadata.name)
    if (object === undefined || object.metadata.uid !== seen.metadata.uid) return
    for (const dependent of this.#dependentsOf(object.metadata.uid)) {
      const ownerReferences = dependent.metadata.ownerReferences?.filter((owner) => owner.uid !== object.metadata.uid)
      const metadata = { ...dependent.metadata, ownerReferences: ownerReferences ?? [] }
      this.#store.update(this.#store.tableOf(dependent), dependent, { ...dependent, metadata }, client)
    }
    this.#removeFinalizer(table, object, orphanFinalizer)
  }

  #terminating(namespace: string): boolean {
    return this.#namespace(namespace)?.metadata.deletionTimestamp !== undefined
  }

  #namespace(name: string): StoredObject | undefined {
    for (const table of this.#store.tables()) if (table.type.kind === 'Namespace') return table.get(undefined, name)
    return undefined
  }

  #emptyNamespace(name: string): void {
    const namespace = this.#namespace(name)
    if (namespace?.metadata.deletionTimestamp === undefined) return
    let left = 0
    for (const table of this.#store.tables()) {
      for (const object of [...table.inNamespace(name)]) {
        if (object.metadata.deletionTimestamp === undefined) this.#delete(table, object)
        if (table.get(name, object.metadata.name) !== undefined) left++
      }
    }
    if (left === 0) this.#store.remove(this.#store.tableOf(namespace), namespace, client)
  }

  #delete(table: ResourceTable, object: StoredObject): void {
    deleteObject(this.#store, table, object, {}, this.#clock.now().getTime(), client)
  }
}

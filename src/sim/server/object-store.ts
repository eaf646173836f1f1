// What etcd is to the API server: every object, one counter of versions, and the news of each change in order.

import type { KubeObject, ResourceType } from '../../api/kube.ts'
import { rulesOf } from './kind-rules.ts'
import { notFound } from './refusals.ts'
import { ResourceTable, type TableChange } from './resource-table.ts'
import { type KindId, kindId, type StoredObject } from './stored-object.ts'
import { WatchHub } from './watch-hub.ts'

/** One committed write, told synchronously to whoever checks the rules. */
export interface CommittedChange {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly kind: string
  readonly before?: KubeObject
  /** Absent for a deletion. */
  readonly after?: KubeObject
  readonly client: string
  /** Virtual milliseconds since the start. */
  readonly time: number
}

interface TableEntry {
  readonly table: ResourceTable
  readonly hub: WatchHub
}

/** As a restore with etcdutl --bump-revision does it. */
const versionsAhead = 1_000_000_000

export type CommitListener = (change: CommittedChange) => void

export class ObjectStore {
  readonly #tables = new Map<KindId, TableEntry>()
  /** The same, found by the descriptor itself: most are constants. */
  readonly #byType = new WeakMap<ResourceType, TableEntry>()
  readonly #listeners = new Set<CommitListener>()
  readonly #historyLimit: number
  readonly #time: () => number
  #pending: { readonly hub: WatchHub; readonly change: TableChange }[] = []
  #dispatching = false
  #version = 0

  constructor(options: { readonly historyLimit: number; readonly time: () => number }) {
    this.#historyLimit = options.historyLimit
    this.#time = options.time
  }

  get version(): number {
    return this.#version
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  table(type: ResourceType): ResourceTable {
    return this.#entry(type).table
  }

  /** Where an object that is or was stored has its place. */
  tableOf(object: StoredObject): ResourceTable {
    const { apiVersion = 'v1', kind = '' } = object
    const entry = this.#tables.get(kindId({ apiVersion, kind }))
    if (entry === undefined) throw new Error(`no table of ${apiVersion} ${kind}`)
    return entry.table
  }

  hub(type: ResourceType): WatchHub {
    return this.#entry(type).hub
  }

  *tables(): Iterable<ResourceTable> {
    for (const { table } of this.#tables.values()) yield table
  }

  create(table: ResourceTable, object: StoredObject, client: string): StoredObject {
    return this.#commit(table, undefined, object, false, client)
  }

  update(table: ResourceTable, before: StoredObject, after: StoredObject, client: string): StoredObject {
    return this.#commit(table, before, after, false, client)
  }

  /** `last` is what watchers see of it: its state at the end, where the removing write changed it once more. */
  remove(table: ResourceTable, before: StoredObject, client: string, last = before): StoredObject {
    return this.#commit(table, before, last, true, client)
  }

  /** All that there is, as a backup keeps it. */
  save(): readonly StoredObject[] {
    return [...this.#tables.values()].flatMap(({ table }) => [...table.all()])
  }

  /**
   * Back to what was saved, as etcd is after a restore: each object has its old version, the counter is far ahead of all that were
   * ever given, and no watch can go on from before. Watchers hear nothing; those who judge hear of each difference.
   */
  goBack(saved: readonly StoredObject[]): void {
    this.#version += versionsAhead
    const keyOf = ({ metadata }: StoredObject) => `${metadata.namespace ?? ''}/${metadata.name}`
    for (const { table } of this.#tables.values()) {
      const now = new Map([...table.all()].map((object) => [keyOf(object), object]))
      const then = saved.filter((object) => this.tableOf(object) === table)
      table.reset(then, this.#version)
      for (const after of then) {
        const before = now.get(keyOf(after))
        now.delete(keyOf(after))
        if (before !== after) this.#tell(table, before, after)
      }
      for (const before of now.values()) this.#tell(table, before, undefined)
    }
  }

  #tell(table: ResourceTable, before: StoredObject | undefined, after: StoredObject | undefined): void {
    const type = after === undefined ? 'deleted' : before === undefined ? 'created' : 'updated'
    const both = { ...(before && { before }), ...(after && { after }) }
    const change = { type, kind: table.type.kind, ...both, client: 'etcd-restore', time: this.#time() } as const
    for (const listener of this.#listeners) listener(change)
  }

  #commit(
    table: ResourceTable,
    before: StoredObject | undefined,
    object: StoredObject,
    deleted: boolean,
    client: string,
  ): StoredObject {
    const version = ++this.#version
    const last: StoredObject = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    const change: TableChange = { version, before, last, deleted }
    table.apply(change)
    const committed = committedChange(table.type.kind, change, client, this.#time())
    for (const listener of this.#listeners) listener(committed)
    this.#pending.push({ hub: this.hub(table.type), change })
    this.#dispatch()
    return last
  }

  /** A watcher may write in answer to an event: its news wait until everybody has heard the earlier ones. */
  #dispatch(): void {
    if (this.#dispatching) return
    this.#dispatching = true
    try {
      while (this.#pending.length > 0) {
        const batch = this.#pending
        this.#pending = []
        for (const { hub, change } of batch) hub.dispatch(change)
      }
    } finally {
      this.#dispatching = false
    }
  }

  #entry(type: ResourceType): TableEntry {
    const known = this.#byType.get(type)
    if (known !== undefined) return known
    const entry = this.#entryOfKind(type)
    this.#byType.set(type, entry)
    return entry
  }

  #entryOfKind(type: ResourceType): TableEntry {
    const id = kindId(type)
    const found = this.#tables.get(id)
    if (found !== undefined) return found
    // Whoever knows only the plural, as a gate does, means the same resource.
    for (const entry of this.#tables.values()) {
      const { apiVersion, plural } = entry.table.type
      if (apiVersion === type.apiVersion && plural === type.plural) return entry
    }
    const rules = rulesOf(type)
    if (rules === undefined) throw notFound(type, '')
    const entry = { table: new ResourceTable(type, rules, this.#historyLimit), hub: new WatchHub() }
    this.#tables.set(id, entry)
    return entry
  }
}

function committedChange(kind: string, change: TableChange, client: string, time: number): CommittedChange {
  const { before, last, deleted } = change
  if (before === undefined) return { type: 'created', kind, after: last, client, time }
  return deleted
    ? { type: 'deleted', kind, before, client, time }
    : { type: 'updated', kind, before, after: last, client, time }
}

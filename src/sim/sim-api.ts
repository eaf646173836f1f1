// The API server in memory. Synchronous: one call is one transaction. Processes reach it through a SimClient, which adds
// the way there and back, and what can go wrong on it.

import { type KubeObject, namespaces, pods, type ResourceType } from '../api/kube.ts'
import type {
  DeleteOptions,
  EvictOptions,
  ListPage,
  ObjectRef,
  Patch,
  Selection,
  SubResource,
  WatchOptions,
} from '../ports/kube-api.ts'
import type { SeededRandom } from './seeded-random.ts'
import { bound } from './server/binding.ts'
import { checkPreconditions, deleteObject, mayGo, timestamp } from './server/deletion.ts'
import { Evictions } from './server/eviction.ts'
import { GarbageCollector } from './server/garbage-collector.ts'
import { isJsonObject, mergePatch, sameJson, withoutEmpty } from './server/json.ts'
import { applyJsonPatch } from './server/json-patch.ts'
import { ListPages } from './server/list-pages.ts'
import { type CommitListener, ObjectStore } from './server/object-store.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbidden,
  invalid,
  modified,
  notFound,
} from './server/refusals.ts'
import type { ResourceTable } from './server/resource-table.ts'
import { select } from './server/selected.ts'
import { type StoredObject, withStatus } from './server/stored-object.ts'
import { tell, type WatchSink } from './server/watch-hub.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface SimApiOptions {
  readonly clock: VirtualClock
  readonly random: SeededRandom
  readonly serverVersion?: string
  /** How many changes of each kind a watch can go back. */
  readonly historyLimit?: number
  /** How long owner-reference collection and namespace clean-up take to notice. */
  readonly collectAfterMs?: number
}

/** An object as a client sends it. */
export type SentObject = Readonly<Record<string, unknown>> & {
  readonly metadata: Partial<StoredObject['metadata']> & { readonly generateName?: string }
}

const serviceAccounts: ResourceType = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export class SimApi {
  readonly #clock: VirtualClock
  readonly #random: SeededRandom
  readonly #store: ObjectStore
  readonly #evictions: Evictions
  readonly #pages = new ListPages()
  #secondMs = -1
  #secondText = ''
  #serverVersion: string

  constructor(options: SimApiOptions) {
    this.#clock = options.clock
    this.#random = options.random
    this.#serverVersion = options.serverVersion ?? 'v1.36.3'
    this.#store = new ObjectStore({
      historyLimit: options.historyLimit ?? 10_000,
      time: () => options.clock.monotonicMs(),
    })
    this.#evictions = new Evictions(this.#store)
    new GarbageCollector({
      store: this.#store,
      clock: options.clock,
      delayMs: options.collectAfterMs ?? 100,
      removeFinalizer: (table, object, finalizer) => {
        const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
        this.#write(table, object, { ...object, metadata: { ...object.metadata, finalizers } }, 'garbage-collector')
      },
    })
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      this.create('kube-apiserver', namespaces, { metadata: { name } })
    }
  }

  get resourceVersion(): string {
    return String(this.#store.version)
  }

  serverVersion(): string {
    return this.#serverVersion
  }

  setServerVersion(version: string): void {
    this.#serverVersion = version
  }

  /** Told of every committed write, synchronously and in order. */
  onCommit(listener: CommitListener): () => void {
    return this.#store.onCommit(listener)
  }

  /** The object as it is now, without a request: for those who judge a simulation, not for those in it. */
  peek<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef): T | undefined {
    const object: KubeObject | undefined = this.#store.table(type).get(ref.namespace, ref.name)
    return object as T | undefined
  }

  peekAll<T extends KubeObject>(type: ResourceType<T>, selection: Selection = {}): readonly T[] {
    const table = this.#store.table(type)
    const objects: readonly KubeObject[] = table.list(select(selection, table.rules))
    return objects as readonly T[]
  }

  /** Puts an object as it stood in another cluster: its identity, its age and its status stay. For before the start only. */
  restore<T extends KubeObject>(type: ResourceType<T>, object: T): void {
    const table = this.#store.table(type)
    const { apiVersion, kind } = type
    const { namespace } = object.metadata
    if (type.namespaced && namespace !== undefined && !this.#store.table(namespaces).get(undefined, namespace)) {
      this.create('kube-apiserver', namespaces, { metadata: { name: namespace } })
    }
    this.#store.create(table, { ...(object as KubeObject), apiVersion, kind }, 'kube-apiserver')
  }

  /** A backup of etcd; `goBack` restores it. */
  save(): readonly StoredObject[] {
    return this.#store.save()
  }

  goBack(saved: readonly StoredObject[]): void {
    this.#store.goBack(saved)
    this.#pages.forget()
  }

  /** Forgets history, so that watches from old versions are answered with 410. */
  compact(): void {
    for (const table of this.#store.tables()) table.compact(this.#store.version)
    this.#pages.forget()
  }

  get(type: ResourceType, ref: ObjectRef): StoredObject {
    return this.#mustGet(this.#store.table(type), ref)
  }

  list(
    type: ResourceType,
    options: Selection & { readonly limit?: number; readonly continueToken?: string },
  ): ListPage<StoredObject> {
    const { limit, continueToken } = options
    if (continueToken !== undefined) return this.#pages.next(continueToken, limit)
    const table = this.#store.table(type)
    const page = { items: table.list(select(options, table.rules)), resourceVersion: this.resourceVersion }
    return this.#pages.cut(page, limit)
  }

  /** Events reach the sink synchronously with each commit; the returned function ends the watch. */
  watch(type: ResourceType, options: WatchOptions, sink: WatchSink): () => void {
    const table = this.#store.table(type)
    const selected = select(options, table.rules)
    const version = options.resourceVersion
    if (version === undefined || version === '0') {
      for (const object of table.list(selected)) sink({ type: 'ADDED', object })
      if (options.initialEvents === true) {
        sink({ type: 'BOOKMARK', resourceVersion: this.resourceVersion, initialEventsEnd: true })
      }
    } else {
      const missed = table.since(Number(version))
      if (missed === undefined) throw expired(`too old resource version: ${version}`)
      for (const change of missed) tell(selected, change, sink)
    }
    return this.#store.hub(type).add(selected, sink)
  }

  create(client: string, type: ResourceType, sent: SentObject): StoredObject {
    const { namespace } = sent.metadata
    if (type.kind === 'Binding') return this.#bind(client, sent)
    if (sent.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
    const table = this.#store.table(type)
    const name = sent.metadata.name ?? this.#generatedName(sent.metadata.generateName)
    if (name === undefined) {
      throw invalid(type, '', [{ field: 'metadata.name', message: 'Required value: name or generateName is required' }])
    }
    if (type.namespaced) this.#checkNamespace(type, namespace, name)
    if (table.get(namespace, name) !== undefined) throw alreadyExists(type, name)
    const { rules } = table
    const { status, ...rest } = withoutEmpty(sent)
    const { deletionTimestamp: _, deletionGracePeriodSeconds: __, generation: ___, ...given } = rest.metadata
    const kept = rules.keepsStatusOnCreate && isJsonObject(status) ? { status } : {}
    const object: StoredObject = rules.prepareNew({
      ...rest,
      ...kept,
      apiVersion: type.apiVersion,
      kind: type.kind,
      metadata: {
        ...given,
        name,
        uid: this.#random.uuid(),
        resourceVersion: '',
        creationTimestamp: this.#now(),
        ...(rules.hasGeneration ? { generation: 1 } : {}),
      },
    })
    rules.judge(type, object, undefined)
    const made = this.#store.create(table, object, client)
    // A pod needs the account; a real cluster's controller makes it a moment later.
    if (type.kind === 'Namespace')
      this.create(client, serviceAccounts, { metadata: { name: 'default', namespace: name } })
    return made
  }

  replace(client: string, type: ResourceType, sent: StoredObject, subResource?: SubResource): StoredObject {
    const table = this.#store.table(type)
    const before = this.#mustGet(table, sent.metadata)
    return this.#change(table, before, withoutEmpty(sent), client, subResource)
  }

  patch(client: string, type: ResourceType, ref: ObjectRef, patch: Patch, subResource?: SubResource): StoredObject {
    const table = this.#store.table(type)
    const before = this.#mustGet(table, ref)
    const after =
      patch.type === 'json' ? withoutEmpty(applyJsonPatch(before, patch.operations)) : mergePatch(before, patch.body)
    if (!isJsonObject(after) || !isJsonObject(after.metadata)) throw badRequest('the patch leaves no object')
    return this.#change(table, before, after as StoredObject, client, subResource)
  }

  delete(client: string, type: ResourceType, ref: ObjectRef, options: DeleteOptions): void {
    const table = this.#store.table(type)
    const object = this.#mustGet(table, ref)
    checkPreconditions(table, object, options)
    deleteObject(this.#store, table, object, options, this.#clock.nowMs(), client)
  }

  evict(client: string, ref: ObjectRef, options: EvictOptions): void {
    const table = this.#store.table(pods)
    const pod = this.#mustGet(table, ref)
    this.#evictions.evict(table, pod, options, this.#clock.nowMs(), client)
  }

  #change(
    table: ResourceTable,
    before: StoredObject,
    sent: StoredObject,
    client: string,
    subResource: SubResource | undefined,
  ): StoredObject {
    const { name, resourceVersion, uid } = before.metadata
    const wanted = sent.metadata
    if (wanted.uid && wanted.uid !== uid) {
      throw conflict(
        table.type,
        name,
        `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
      )
    }
    if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) throw modified(table.type, name)
    const { rules } = table
    if (subResource === 'status') {
      if (!rules.hasStatus) throw notFound(table.type, name)
      return this.#write(table, before, withStatus(before, sent.status), client)
    }
    const { apiVersion, kind } = table.type
    const metadata = this.#metadata(table, before, sent)
    const after = { ...sent, apiVersion, kind, metadata }
    return this.#write(table, before, rules.hasStatus ? withStatus(after, before.status) : after, client)
  }

  #metadata(table: ResourceTable, before: StoredObject, sent: StoredObject): StoredObject['metadata'] {
    // Most writes leave it alone.
    if (sent.metadata === before.metadata) return before.metadata
    const { labels, annotations, finalizers, ownerReferences } = sent.metadata
    const { labels: _, annotations: __, finalizers: ___, ownerReferences: ____, ...fixed } = before.metadata
    if (fixed.deletionTimestamp !== undefined) {
      const added = finalizers?.find((name) => !before.metadata.finalizers?.includes(name))
      if (added !== undefined) {
        const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ["${added}"]`
        throw invalid(table.type, fixed.name, [{ field: 'metadata.finalizers', message }])
      }
    }
    return {
      ...fixed,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined || finalizers.length === 0 ? {} : { finalizers }),
      ...(ownerReferences === undefined || ownerReferences.length === 0 ? {} : { ownerReferences }),
    }
  }

  /** A write that changes nothing is no write: the version stays, nobody is told. */
  #write(table: ResourceTable, before: StoredObject, after: StoredObject, client: string): StoredObject {
    if (sameJson(before, after)) return before
    table.rules.judge(table.type, after, before)
    const { generation } = before.metadata
    const bump = generation !== undefined && before.spec !== after.spec && !sameJson(before.spec, after.spec)
    const next = bump ? { ...after, metadata: { ...after.metadata, generation: generation + 1 } } : after
    if (mayGo(next)) return this.#store.remove(table, before, client, next)
    return this.#store.update(table, before, next, client)
  }

  /** A Binding is the only way a pod that exists gets its node. */
  #bind(client: string, binding: SentObject): StoredObject {
    const table = this.#store.table(pods)
    const { name = '', namespace } = binding.metadata
    const pod = this.#mustGet(table, namespace === undefined ? { name } : { name, namespace })
    const after = bound(pod, binding.target, this.#now())
    return this.#store.update(table, pod, after, client)
  }

  #mustGet(table: ResourceTable, ref: ObjectRef): StoredObject {
    const object = table.get(table.type.namespaced ? ref.namespace : undefined, ref.name)
    if (object === undefined) throw notFound(table.type, ref.name)
    return object
  }

  #checkNamespace(type: ResourceType, namespace: string | undefined, name: string): void {
    if (namespace === undefined) throw badRequest('the namespace of the object is missing')
    const found = this.#store.table(namespaces).get(undefined, namespace)
    if (found === undefined) throw notFound(namespaces, namespace)
    if (found.metadata.deletionTimestamp === undefined) return
    throw forbidden(
      `${type.plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    )
  }

  #generatedName(prefix: string | undefined): string | undefined {
    if (!prefix) return undefined
    let suffix = ''
    for (let i = 0; i < 5; i++) suffix += nameAlphabet[this.#random.whole(0, nameAlphabet.length - 1)]
    return `${prefix}${suffix}`
  }

  #now(): string {
    const second = Math.floor(this.#clock.nowMs() / 1000)
    if (second !== this.#secondMs) {
      this.#secondMs = second
      this.#secondText = timestamp(second * 1000)
    }
    return this.#secondText
  }
}

// Carries Updates of Housekeeper out by DirectUpdates: makes ours, passes edits on, tells on theirs how it stands, and keeps its
// labels on the nodes. What to do is decided in housekeeper-turn.ts and housekeeper-labels.ts.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import {
  type HousekeeperStatus,
  type HousekeeperUpdate,
  housekeeperMark,
  housekeeperOwnerLabel,
  housekeeperResult,
  housekeeperUpdates,
} from '../../api/housekeeper.ts'
import { nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { type Reconcile, runController } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { slimNode } from '../cluster/slim-node.ts'
import type { OperatorPorts } from '../ports.ts'
import { ForeignWatch } from './foreign-watch.ts'
import { translateUpdate } from './housekeeper.ts'
import { isForHousekeeper, labelChange } from './housekeeper-labels.ts'
import { type CarriedUpdate, decideTurn, oursName, type Result, whoseTurn } from './housekeeper-turn.ts'

/** What is told changes with every node: so often at most. */
const tellEveryMs = 1_000
/** Whether their kind is there, and empty, is told by no change. */
const orphansMs = 15_000
/** What was refused may be let through by now. */
const refusedMs = 30_000

const pass = 'updates'
const nodeKey = (name: string) => `node:${name}`

interface HousekeeperOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
}

/** Until aborted; nothing but a quiet watch where its kind is not installed. */
export async function runHousekeeper(options: HousekeeperOptions, signal: AbortSignal): Promise<void> {
  const housekeeper = new Housekeeper(options)
  const { queue, reconcile } = housekeeper
  const { log } = options.ports
  await Promise.all([
    housekeeper.run(signal),
    runController({ name: 'housekeeper', queue, reconcile, workers: 1, log }, signal),
  ])
}

class Housekeeper {
  readonly queue: WorkQueue
  readonly #ports: OperatorPorts
  readonly #cluster: Cluster
  readonly #events: EventRecorder
  readonly #watch: ForeignWatch<HousekeeperUpdate>
  /** By uid: what was told last, and when. Its status keeps nothing, so it cannot be read there. */
  readonly #told = new Map<string, { readonly result: Result; readonly atMs: number }>()

  constructor({ ports, cluster, events }: HousekeeperOptions) {
    this.#ports = ports
    this.#cluster = cluster
    this.#events = events
    this.queue = new WorkQueue({ clock: ports.clock, random: ports.random, baseMs: 50, maxMs: 15_000 })
    this.#watch = new ForeignWatch({ ports, type: housekeeperUpdates, onChange: () => this.queue.add(pass) })
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#follow()
    await this.#watch.run(signal)
  }

  readonly reconcile: Reconcile = async (key, signal) => {
    if (key !== pass) return await this.#labelNode(key.slice('node:'.length), signal)
    const waits = [await this.#removeOrphans(signal)]
    const all = [...this.#watch.store.values()]
    for (const { metadata } of all) waits.push(await this.#carry(`${metadata.namespace}/${metadata.name}`, signal))
    const known = waits.flatMap((ms) => ms ?? [])
    return known.length > 0 ? { afterMs: Math.min(...known) } : undefined
  }

  #follow(): void {
    const { updates, states, nodes: allNodes } = this.#cluster
    const isOurs = (name: string | undefined) => {
      const update = name === undefined ? undefined : updates.get(name)
      return update !== undefined && isForHousekeeper(update)
    }
    const wakeMarked = () => {
      for (const { metadata } of allNodes.values()) {
        if (metadata.annotations?.[housekeeperMark] !== undefined) this.queue.add(nodeKey(metadata.name))
      }
    }
    updates.subscribe((change) => {
      if (!isForHousekeeper(change.object)) return
      this.queue.add(pass)
      const before = change.type === 'changed' ? change.before.status?.phase : undefined
      if (change.type !== 'changed' || before !== change.object.status?.phase) wakeMarked()
    })
    states.subscribe(({ key, object }) => {
      const isMarked = allNodes.get(key)?.metadata.annotations?.[housekeeperMark] !== undefined
      if (isMarked || isOurs(object.status?.rollout?.update)) this.queue.add(nodeKey(key))
    })
    this.queue.add(pass)
    wakeMarked()
    for (const { metadata, status } of states.values()) {
      if (isOurs(status?.rollout?.update)) this.queue.add(nodeKey(metadata.name))
    }
  }

  #carriedUpdate(theirs: HousekeeperUpdate): CarriedUpdate {
    const ours = this.#cluster.updates.get(oursName(theirs))
    const isIts = ours?.metadata.labels?.[housekeeperOwnerLabel] === theirs.metadata.uid
    return { theirs, translated: translateUpdate(theirs), ours: isIts ? ours : undefined }
  }

  async #carry(key: string, signal: AbortSignal): Promise<number | undefined> {
    const theirs = this.#watch.store.get(key)
    if (!theirs) return undefined
    const carried = this.#carriedUpdate(theirs)
    const all = [...this.#watch.store.values()].map((one) => this.#carriedUpdate(one))
    const turn = this.#orphans().length > 0 ? undefined : whoseTurn(all)
    const action = decideTurn(carried, turn)
    switch (action.action) {
      case 'rest':
        return undefined
      case 'make':
        return await this.#make(theirs, action.name, action.spec, signal)
      case 'edit':
        return carried.ours ? await this.#edit(theirs, carried.ours, action.spec, signal) : undefined
      case 'tell':
        return await this.#tell(theirs, action.result, signal)
    }
  }

  async #make(
    theirs: HousekeeperUpdate,
    name: string,
    spec: DirectUpdate['spec'],
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { apiVersion, kind } = directUpdates
    const labels = { [housekeeperOwnerLabel]: theirs.metadata.uid }
    try {
      const made = await this.#ports.api.create(
        directUpdates,
        { apiVersion, kind, metadata: { name, labels }, spec },
        signal,
      )
      this.#cluster.updates.learn(made)
      this.#say(theirs, 'Normal', 'Made', `DirectUpdate ${name} carries it out`)
      return undefined
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists', 'Invalid', 'Forbidden')) throw error
      // Perhaps ours, which the watch has not shown yet.
      if (error.code === 'AlreadyExists' && !this.#cluster.updates.get(name)) return tellEveryMs
      const taken = `a DirectUpdate ${name} that is not its own is in the way: delete it`
      const message = error.code === 'AlreadyExists' ? taken : error.message
      await this.#tell(theirs, { phase: 'Refused', message }, signal)
      return refusedMs
    }
  }

  async #edit(
    theirs: HousekeeperUpdate,
    { metadata }: DirectUpdate,
    spec: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { name, uid, resourceVersion } = metadata
    const body = { metadata: { uid, resourceVersion }, spec }
    try {
      this.#cluster.updates.learn(await this.#ports.api.patch(directUpdates, { name }, { type: 'merge', body }, signal))
      return undefined
    } catch (error) {
      // It began meanwhile, or a policy of the cluster is against it.
      if (!isKubeError(error, 'Invalid', 'Forbidden')) throw error
      const message = `its edit is not taken up: ${error.message}`
      await this.#tell(theirs, { phase: 'Refused', update: name, message }, signal)
      return refusedMs
    }
  }

  async #tell(theirs: HousekeeperUpdate, result: Result, signal: AbortSignal): Promise<number | undefined> {
    const { uid } = theirs.metadata
    const before = this.#told.get(uid)
    if (before && equalJson(before.result, result) && isTold(theirs, result)) return undefined
    const nowMs = this.#ports.clock.monotonicMs()
    const dueMs = (before?.atMs ?? Number.NEGATIVE_INFINITY) + tellEveryMs
    if (before?.result.phase === result.phase && dueMs > nowMs) return dueMs - nowMs
    const isTurn = theirs.metadata.annotations?.[housekeeperResult.phase] !== result.phase
    try {
      if (!isTold(theirs, result)) await this.#annotate(theirs, result, signal)
      await this.#writeStatus(theirs, result, signal)
    } catch (error) {
      // Deleted meanwhile: the watch will say so.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
      return undefined
    }
    this.#told.set(uid, { result, atMs: nowMs })
    if (isTurn) {
      const isBad = ['Refused', 'Failed', 'RequiresAttention', 'Gone'].includes(result.phase)
      const reason = result.phase === 'Refused' ? 'ForeignRefused' : result.phase
      this.#say(theirs, isBad ? 'Warning' : 'Normal', reason, result.message ?? `it is ${result.phase}`)
    }
    return undefined
  }

  async #annotate(theirs: HousekeeperUpdate, result: Result, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = theirs.metadata
    const body = { metadata: { uid, annotations: annotationsOf(result) } }
    const written = await this.#ports.api.patch(
      housekeeperUpdates,
      { name, namespace },
      { type: 'merge', body },
      signal,
    )
    this.#watch.store.learn(written)
  }

  /** Kept where our definition of their kind is installed; their own knows no such fields, and others may have no status. */
  async #writeStatus(theirs: HousekeeperUpdate, { carried: _, ...told }: Result, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid, generation } = theirs.metadata
    const status: HousekeeperStatus = { ...told, ...(generation !== undefined && { observedGeneration: generation }) }
    const cleared = Object.fromEntries(Object.keys(theirs.status ?? {}).map((field) => [field, null]))
    const body = { metadata: { uid }, status: { ...cleared, ...status } }
    await this.#ports.api
      .patch(housekeeperUpdates, { name, namespace }, { type: 'merge', body }, signal, 'status')
      .catch((error: unknown) => (isKubeError(error, 'NotFound', 'Invalid') ? undefined : Promise.reject(error)))
  }

  /** Ours whose Update is gone goes as well: its nodes are put back. Only where it is known which Updates there are. */
  async #removeOrphans(signal: AbortSignal): Promise<number | undefined> {
    const orphans = this.#orphans()
    if (orphans.length === 0) return undefined
    if (!this.#watch.isSynced) return orphansMs
    for (const { metadata } of orphans) {
      if (metadata.deletionTimestamp !== undefined) continue
      const { name, uid } = metadata
      await this.#ports.api
        .delete(directUpdates, { name }, { uid }, signal)
        .catch((error: unknown) => (isKubeError(error, 'NotFound', 'Conflict') ? undefined : Promise.reject(error)))
    }
    return undefined
  }

  #orphans(): readonly DirectUpdate[] {
    const uids = new Set([...this.#watch.store.values()].map(({ metadata }) => metadata.uid))
    for (const uid of this.#told.keys()) if (!uids.has(uid)) this.#told.delete(uid)
    const isOrphan = ({ metadata }: DirectUpdate) => !uids.has(metadata.labels?.[housekeeperOwnerLabel] ?? '')
    return [...this.#cluster.updates.values()].filter((update) => isForHousekeeper(update) && isOrphan(update))
  }

  async #labelNode(name: string, signal: AbortSignal): Promise<undefined> {
    const node = this.#cluster.nodes.get(name)
    if (!node || node.metadata.deletionTimestamp !== undefined) return undefined
    const state = this.#cluster.states.get(name)
    const change = labelChange(node, this.#updateAbout(name), state)
    if (!change) return undefined
    const { uid, resourceVersion } = node.metadata
    const body = { metadata: { uid, resourceVersion, ...change } }
    const written = await this.#ports.api.patch(nodes, { name }, { type: 'merge', body }, signal)
    this.#cluster.nodes.learn(slimNode(written))
    return undefined
  }

  /** The one whose work the node was last taken for; one is carried out at a time. */
  #updateAbout(name: string): DirectUpdate | undefined {
    const state = this.#cluster.states.get(name)
    const mark = this.#cluster.nodes.get(name)?.metadata.annotations?.[housekeeperMark]
    const named = [state?.status?.rollout?.update, mark].flatMap((update) => update ?? [])
    return named.flatMap((update) => this.#cluster.updates.get(update) ?? []).find(isForHousekeeper)
  }

  #say(theirs: HousekeeperUpdate, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const { name, namespace = '', uid } = theirs.metadata
    const { apiVersion, kind } = housekeeperUpdates
    const regarding = { apiVersion, kind, name, namespace, uid }
    this.#events.record({ regarding, type, reason, action: 'CarryOut', note: note.slice(0, 1000) })
  }
}

function annotationsOf({ phase, update, progress, message, carried }: Result): Readonly<Record<string, string | null>> {
  return {
    [housekeeperResult.phase]: phase,
    [housekeeperResult.progress]: progress ?? null,
    [housekeeperResult.message]: message ?? null,
    ...(update !== undefined && { [housekeeperResult.update]: update }),
    ...(carried !== undefined && { [housekeeperResult.carried]: carried }),
  }
}

function isTold({ metadata }: HousekeeperUpdate, result: Result): boolean {
  return Object.entries(annotationsOf(result)).every(([key, value]) => (metadata.annotations?.[key] ?? null) === value)
}

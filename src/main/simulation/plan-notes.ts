// What is worth telling of a rehearsal, noted while it runs from what is committed.

import type { DirectUpdate } from '../../api/direct-update.ts'
import { type Node, nodes, type Pod, type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { selects } from '../../core/label-selector.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type Blocker, podBlocker } from '../../core/plan/blocker.ts'
import type { PlanRun, TakenNode } from '../../core/plan/plan-report.ts'
import { ownerOfOperation } from '../../core/update/operation.ts'
import { strategyOf, waveLimit } from '../../core/update/waves.ts'
import { mismatch } from '../../sim/actors/placement.ts'
import { couldHold } from '../../sim/actors/room.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { isOperator } from './loaded-cluster.ts'

/** A pod without a node for so long is worth a word; a node's way back takes longer. */
const unplacedMs = 60_000
/** Longer than pods take to start elsewhere: whoever waited for that was in nobody's way. */
const nearMs = 60_000

export class PlanNotes {
  readonly #cluster: SimCluster
  readonly #update: string
  readonly #parents: ReadonlyMap<string, string>
  readonly #taken = new Map<string, TakenNode>()
  readonly #blockers = new Map<string, Blocker>()
  readonly #pending = new Map<string, { readonly pod: Pod; readonly sinceMs: number }>()
  readonly #unplaced = new Map<string, { uids: Set<string>; message: string }>()
  /** Pods that wait for a budget while their node is drained, and since when. */
  readonly #held = new Map<string, { readonly node: string; readonly reason: Reason; readonly sinceMs: number }>()
  readonly #near = new Map<string, Blocker>()
  readonly #home: string | undefined
  #moved = false

  constructor(cluster: SimCluster, snapshot: ClusterSnapshot, update: string) {
    this.#cluster = cluster
    this.#update = update
    this.#home = snapshot.pods.find(isOperator)?.spec.nodeName
    this.#parents = new Map(
      snapshot.replicaSets.flatMap(({ metadata }) => {
        const owner = metadata.ownerReferences?.find(({ controller }) => controller)
        return owner ? [[metadata.uid, `${owner.kind} ${metadata.namespace}/${owner.name}`]] : []
      }),
    )
    cluster.server.onCommit((change) => this.#note(change))
  }

  noteBlock(node: string, pod: string, reason: Reason): void {
    const [namespace = '', name = ''] = pod.split('/')
    const object = this.#cluster.server.peek(pods, { namespace, name })
    // Removed already; the report of the node has yet to say so.
    if (!object) return
    const blocker = this.#blockerOf(node, object, reason)
    const key = `${blocker.key} ${node}`
    if (!this.#blockers.has(key)) this.#blockers.set(key, blocker)
  }

  #blockerOf(node: string, object: Pod, { code, message }: Reason): Blocker {
    const pod = `${object.metadata.namespace}/${object.metadata.name}`
    return podBlocker({
      node,
      pod,
      code,
      message,
      workload: this.#workloadOf(object),
      budgets: this.#budgetsOf(object),
      fitsElsewhere: this.#fitsElsewhere(object, node),
    })
  }

  /** What stands in the way of the whole update, and nodes that ended badly. */
  noteEnd(update: DirectUpdate | undefined, isStuck: boolean): void {
    const conditions = update?.status?.conditions ?? []
    const refused = conditions.find(({ type, status }) => type === 'Planned' && status === 'False')
    const blocked = conditions.find(({ type, status }) => type === 'Blocked' && status === 'True')
    // A gate that did not hold in its time: no node is to blame.
    const isFailedGate = blocked?.reason === 'GateFailed'
    const whole = refused ?? (isStuck || isFailedGate ? blocked : undefined)
    if (whole) {
      const { reason: code, message } = whole
      this.#blockers.set(code, { key: code, code, message, lasting: true })
    }
    for (const { metadata, status } of this.#cluster.server.peekAll(nodeStates) as readonly NodeState[]) {
      const { rollout } = status ?? {}
      if (rollout?.update !== this.#update || !rollout.reason) continue
      if (rollout.phase !== 'Failed' && rollout.phase !== 'RequiresAttention') continue
      const { code, message } = rollout.reason
      const blocker = { key: `${code} Node ${metadata.name}`, code, message, node: metadata.name, lasting: true }
      this.#blockers.set(blocker.key, blocker)
    }
  }

  found(update: DirectUpdate | undefined): Pick<PlanRun, 'taken' | 'blockers' | 'near' | 'unplaced'> {
    for (const uid of this.#pending.keys()) this.#judgePending(uid)
    return {
      taken: this.#inWaves(update),
      blockers: [...this.#blockers.values()],
      near: [...this.#near.values()],
      unplaced: new Map([...this.#unplaced].map(([key, { uids, message }]) => [key, { pods: uids.size, message }])),
    }
  }

  #note({ kind, before, after, time }: CommittedChange): void {
    if (kind === 'NodeState' && after) this.#noteHeld(after as NodeState, time)
    if (kind === 'Pod') this.#notePod(before as Pod | undefined, after as Pod | undefined, time)
    if (kind !== 'MaintenancePolicy' || !after) return
    for (const { node, holder } of (after as MaintenancePolicy).status?.ledger?.grants ?? []) {
      if (this.#taken.has(node) || ownerOfOperation(holder) !== this.#update) continue
      this.#taken.set(node, { name: node, wave: 0, atMs: time, afterMove: this.#moved })
    }
  }

  #notePod(before: Pod | undefined, after: Pod | undefined, time: number): void {
    const uid = (after ?? before)?.metadata.uid ?? ''
    if (before && after?.metadata.deletionTimestamp !== before.metadata.deletionTimestamp) this.#judgeHeld(before, time)
    if (after?.spec.nodeName === undefined && after?.metadata.deletionTimestamp === undefined && after) {
      const sinceMs = before ? this.#pending.get(uid)?.sinceMs : time
      if (sinceMs !== undefined) this.#pending.set(uid, { pod: after, sinceMs })
    } else if (this.#pending.has(uid)) {
      this.#judgePending(uid)
      this.#pending.delete(uid)
    }
    if (after?.spec.nodeName !== undefined && isOperator(after) && after.spec.nodeName !== this.#home)
      this.#moved = true
  }

  /** What was held up for long came near to a block: in another run it may become one. */
  #noteHeld({ metadata, status }: NodeState, time: number): void {
    for (const { pod, reason } of status?.rollout?.drain?.pods ?? []) {
      if (!this.#held.has(pod)) this.#held.set(pod, { node: metadata.name, reason, sinceMs: time })
    }
  }

  #judgeHeld(pod: Pod, time: number): void {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`
    const held = this.#held.get(key)
    this.#held.delete(key)
    if (!held || time - held.sinceMs < nearMs) return
    const blocker = this.#blockerOf(held.node, pod, held.reason)
    this.#near.set(blocker.key, blocker)
  }

  #judgePending(uid: string): void {
    const { pod, sinceMs } = this.#pending.get(uid) ?? {}
    if (!pod || sinceMs === undefined || this.#cluster.clock.monotonicMs() - sinceMs < unplacedMs) return
    const { name, namespace = '' } = pod.metadata
    const message = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? 'no node took it'
    const key = this.#workloadOf(pod) ?? `Pod ${namespace}/${name}`
    const known = this.#unplaced.get(key) ?? { uids: new Set<string>(), message }
    known.uids.add(uid)
    this.#unplaced.set(key, known)
  }

  /** The control plane goes first; workers are taken wave by wave, so their number tells the wave. */
  #inWaves(update: DirectUpdate | undefined): readonly TakenNode[] {
    const { waves } = strategyOf(update?.spec.strategy)
    const isWorker = ({ name }: TakenNode) => {
      const node = this.#cluster.server.peek(nodes, { name })
      return node !== undefined && roleOf(node) === 'Worker'
    }
    const taken = [...this.#taken.values()]
    const { total = 0, skipped = 0 } = update?.status?.summary ?? {}
    const workers = total - skipped - taken.filter((node) => !isWorker(node)).length
    const ends = waves.map((_, index) => waveLimit(waves, index, workers))
    let before = 0
    return taken.map((node) => {
      if (!isWorker(node)) return node
      const place = before++
      const index = ends.findIndex((end) => place < end)
      return { ...node, wave: 1 + (index < 0 ? waves.length - 1 : index) }
    })
  }

  #workloadOf({ metadata }: Pod): string | undefined {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller)
    if (!owner) return undefined
    return this.#parents.get(owner.uid) ?? `${owner.kind} ${metadata.namespace}/${owner.name}`
  }

  #budgetsOf({ metadata }: Pod): readonly PodDisruptionBudget[] {
    const inNamespace = { namespace: metadata.namespace ?? '' }
    return this.#cluster.server
      .peekAll(podDisruptionBudgets, inNamespace)
      .filter(({ spec }) => spec.selector !== undefined && selects(spec.selector, metadata.labels))
  }

  #fitsElsewhere(pod: Pod, node: string): boolean {
    return (this.#cluster.server.peekAll(nodes) as readonly Node[]).some(
      (other) => other.metadata.name !== node && mismatch(pod, other) === undefined && couldHold(pod, other),
    )
  }
}

// What is worth telling of a rehearsal, noted while it runs from what is committed.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import { type Node, nodes, type Pod, type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { type Drain, drainOf, ruleFor } from '../../core/drain/drain-policy.ts'
import { selects } from '../../core/label-selector.ts'
import { isReady, roleOf } from '../../core/node/node-facts.ts'
import { type Blocker, nameOf, podBlocker } from '../../core/plan/blocker.ts'
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
/** A drain that was held up for such a share of its time came near to a block; less than this is how long pods take to start. */
const near = { share: 1 / 4, leastMs: 20_000 }

/** What is seen of the cluster on which it is carried out. */
export interface WatchedCluster {
  readonly clock: Pick<SimCluster['clock'], 'monotonicMs'>
  readonly server: Pick<SimCluster['server'], 'onCommit' | 'peek' | 'peekAll'>
}

export class PlanNotes {
  readonly #cluster: WatchedCluster
  readonly #update: string
  readonly #drain: Drain
  readonly #parents: ReadonlyMap<string, string>
  readonly #taken = new Map<string, TakenNode>()
  readonly #under = new Set<string>()
  readonly #blockers = new Map<string, Blocker>()
  readonly #pending = new Map<string, { readonly pod: Pod; readonly sinceMs: number }>()
  readonly #unplaced = new Map<string, { uids: Set<string>; message: string }>()
  /** Pods that wait for a budget while their node is drained, and since when. */
  readonly #held = new Map<string, { readonly node: string; readonly reason: Reason; readonly sinceMs: number }>()
  readonly #near = new Map<string, Blocker>()
  /** When nodes ended badly. */
  readonly #failedMs = new Map<string, number>()
  readonly #home: string | undefined
  /** Then pods look for a node that left none of those which are drained. */
  readonly #hasLostNodes: boolean
  /** As they were found, those that are not rehearsed, too. */
  readonly #nodes: readonly Node[]
  #moved = false

  constructor(
    cluster: WatchedCluster,
    snapshot: ClusterSnapshot,
    { name, spec }: { readonly name: string; readonly spec: DirectUpdateSpec },
  ) {
    this.#cluster = cluster
    this.#update = name
    this.#drain = drainOf(...snapshot.maintenancePolicies.map((policy) => policy.spec.drain), spec.drain)
    this.#hasLostNodes = !snapshot.nodes.every(isReady)
    this.#nodes = snapshot.nodes
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
    if (!this.#blockers.has(key)) this.#blockers.set(key, { ...blocker, atMs: this.#cluster.clock.monotonicMs() })
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
    const endMs = this.#cluster.clock.monotonicMs()
    const conditions = update?.status?.conditions ?? []
    const refused = conditions.find(({ type, status }) => type === 'Planned' && status === 'False')
    const blocked = conditions.find(({ type, status }) => type === 'Blocked' && status === 'True')
    // A gate that did not hold in its time: no node is to blame.
    const isFailedGate = blocked?.reason === 'GateFailed'
    const whole = refused ?? (isStuck || isFailedGate ? blocked : undefined)
    if (whole) {
      const { reason: code, message } = whole
      this.#blockers.set(code, { key: code, code, message, lasting: true, atMs: endMs })
    }
    for (const { metadata, status } of this.#cluster.server.peekAll(nodeStates) as readonly NodeState[]) {
      const { rollout } = status ?? {}
      if (rollout?.update !== this.#update || !rollout.reason) continue
      if (rollout.phase !== 'Failed' && rollout.phase !== 'RequiresAttention') continue
      const { code, message } = rollout.reason
      const lasting = code !== 'DrainAborted' || this.#isHeldForGood(metadata.name)
      const about = /^(gate [^:]+): /.exec(message)?.[1] ?? `Node ${metadata.name}`
      const blocker = { key: `${code} ${about}`, code, message, node: metadata.name, lasting, placeMatters: true }
      const atMs = this.#failedMs.get(metadata.name) ?? endMs
      this.#blockers.set(`${blocker.key} ${metadata.name}`, { ...blocker, atMs })
    }
  }

  found(update: DirectUpdate | undefined): Pick<PlanRun, 'taken' | 'blockers' | 'near' | 'unplaced'> {
    // After a failure nodes stay away, and nothing finds a place for these any more.
    const isLeft = update?.status?.phase === 'Failed'
    for (const uid of this.#pending.keys()) this.#judgePending(uid, isLeft)
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
    const ours = new Set<string>()
    for (const { node, holder } of (after as MaintenancePolicy).status?.ledger?.grants ?? []) {
      if (ownerOfOperation(holder) !== this.#update) continue
      ours.add(node)
      this.#under.add(node)
      if (this.#taken.has(node)) continue
      this.#taken.set(node, { name: node, wave: 0, atMs: time, afterMove: this.#moved })
    }
    for (const node of this.#under) {
      const taken = this.#taken.get(node)
      if (ours.has(node) || !taken) continue
      this.#under.delete(node)
      this.#taken.set(node, { ...taken, backMs: time })
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
    const { phase } = status?.rollout ?? {}
    if (phase === 'Failed' && !this.#failedMs.has(metadata.name)) this.#failedMs.set(metadata.name, time)
    for (const { pod, reason } of status?.rollout?.drain?.pods ?? []) {
      this.#held.set(pod, { node: metadata.name, reason, sinceMs: this.#held.get(pod)?.sinceMs ?? time })
    }
  }

  /** Whether what made its drain late would make it late in any run. */
  #isHeldForGood(node: string): boolean {
    return [...this.#held].some(([pod, { node: its, reason }]) => {
      const [namespace = '', name = ''] = pod.split('/')
      const object = its === node ? this.#cluster.server.peek(pods, { namespace, name }) : undefined
      return object !== undefined && this.#blockerOf(node, object, reason).lasting
    })
  }

  #judgeHeld(pod: Pod, time: number): void {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`
    const held = this.#held.get(key)
    this.#held.delete(key)
    if (
      !held ||
      time - held.sinceMs < Math.max(near.leastMs, near.share * this.#drain.timeoutMs) ||
      this.#goesInTime(pod)
    )
      return
    const blocker = this.#lateAs(this.#blockerOf(held.node, pod, held.reason), held.node)
    this.#near.set(blocker.key, { ...blocker, atMs: held.sinceMs })
  }

  /** Where a drain that is late is given up, nobody hears of anything but that. */
  #lateAs(blocker: Blocker, node: string): Blocker {
    if (this.#drain.onTimeout !== 'Abort') return blocker
    const code = 'DrainAborted'
    return { ...blocker, key: `${code} Node ${node}`, code, lasting: false }
  }

  /** The settings see to it that it never makes a drain late: it is forced, or let run for a time only. */
  #goesInTime(pod: Pod): boolean {
    const rule = ruleFor(pod, this.#drain)
    const isForced = this.#drain.onTimeout === 'Force' || rule?.action === 'Force'
    return isForced || (rule?.action === 'WaitForCompletion' && rule.timeout !== undefined)
  }

  #judgePending(uid: string, isLeft = false): void {
    const pending = this.#pending.get(uid)
    const pendingMs = this.#cluster.clock.monotonicMs() - (pending?.sinceMs ?? 0)
    if (!pending || pendingMs < unplacedMs) return
    const { pod } = pending
    const { name, namespace = '' } = pod.metadata
    const message = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? 'no node took it'
    const key = this.#workloadOf(pod) ?? `Pod ${namespace}/${name}`
    const known = this.#unplaced.get(key) ?? { uids: new Set<string>(), message }
    known.uids.add(uid)
    this.#unplaced.set(key, known)
    const budget = this.#budgetsOf(pod).find(keepsSiblings)
    // One that left a drained node finds its place when that is back, before siblings elsewhere are asked to go.
    const outlasts = isLeft || (this.#hasLostNodes && pendingMs >= this.#drain.timeoutMs)
    if (budget && outlasts && !this.#goesInTime(pod)) this.#noteShort(pod, budget, message)
  }

  /** Without it the budget lets none of its siblings go: where one of them is on a node that is drained is left to chance. */
  #noteShort(pod: Pod, budget: PodDisruptionBudget, why: string): void {
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`
    const message = `${name} finds no node (${why}); until it does PodDisruptionBudget ${nameOf(budget)} may let nobody go`
    const view = { node: '', pod: name, code: 'PodDisruptionBudget', message, workload: undefined, budgets: [budget] }
    const { node: _, ...blocker } = podBlocker({ ...view, fitsElsewhere: true })
    if (!this.#near.has(blocker.key)) this.#near.set(blocker.key, blocker)
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
    return this.#nodes.some(
      (other) => other.metadata.name !== node && mismatch(pod, other) === undefined && couldHold(pod, other),
    )
  }
}

function keepsSiblings({ status }: PodDisruptionBudget): boolean {
  return status !== undefined && status.disruptionsAllowed === 0 && status.currentHealthy > 0
}

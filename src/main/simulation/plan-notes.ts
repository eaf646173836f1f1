// What is worth telling of a rehearsal, noted while it runs from what is committed.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import { type Node, nodes, type Pod, type PodDisruptionBudget, podDisruptionBudgets, pods } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { type Drain, drainOf, ruleFor } from '../../core/drain/drain-policy.ts'
import { selects } from '../../core/label-selector.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type Blocker, nameOf, podBlocker } from '../../core/plan/blocker.ts'
import type { PlanRun, TakenNode } from '../../core/plan/plan-report.ts'
import { ownerOfOperation } from '../../core/update/operation.ts'
import { strategyOf, waveLimit } from '../../core/update/waves.ts'
import { mismatch } from '../../sim/actors/placement.ts'
import { couldHold } from '../../sim/actors/room.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { isOperator } from './loaded-cluster.ts'
import { PendingPods, type Shortage, whyUnplaced } from './pending-pods.ts'

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
  readonly #steps = new Set<string>()
  readonly #blockers = new Map<string, Blocker>()
  readonly #pending: PendingPods
  /** Pods that hold up the drain of their node. */
  readonly #held = new Map<string, { readonly node: string; readonly reason: Reason }>()
  /** When nodes ended badly. */
  readonly #failedMs = new Map<string, number>()
  readonly #home: string | undefined
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
    this.#pending = new PendingPods({
      clock: cluster.clock,
      workloadOf: (pod) => this.#workloadOf(pod),
      shortOf: (pod) => this.#shortOf(pod),
    })
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

  found(update: DirectUpdate | undefined): Pick<PlanRun, 'taken' | 'blockers' | 'near' | 'unplaced' | 'steps'> {
    return {
      taken: this.#inWaves(update),
      blockers: [...this.#blockers.values()],
      steps: [...this.#steps],
      ...this.#pending.end([...this.#taken.values()]),
    }
  }

  #note({ kind, before, after, time }: CommittedChange): void {
    if (kind === 'NodeState' && after) {
      this.#noteHeld(after as NodeState, time)
      this.#noteSteps(after as NodeState)
    }
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
      this.#pending.nodeIsBack(time)
    }
  }

  #noteSteps({ status }: NodeState): void {
    if (status?.rollout?.update !== this.#update) return
    for (const { name } of status.agent?.order?.steps ?? []) this.#steps.add(name)
  }

  #notePod(before: Pod | undefined, after: Pod | undefined, time: number): void {
    if (before && after?.metadata.deletionTimestamp !== before.metadata.deletionTimestamp)
      this.#held.delete(`${before.metadata.namespace}/${before.metadata.name}`)
    this.#pending.note(before, after, time)
    if (after?.spec.nodeName !== undefined && isOperator(after) && after.spec.nodeName !== this.#home)
      this.#moved = true
  }

  #noteHeld({ metadata, status }: NodeState, time: number): void {
    const { phase } = status?.rollout ?? {}
    if (phase === 'Failed' && !this.#failedMs.has(metadata.name)) this.#failedMs.set(metadata.name, time)
    for (const { pod, reason } of status?.rollout?.drain?.pods ?? []) {
      this.#held.set(pod, { node: metadata.name, reason })
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

  /** The settings see to it that it never makes a drain late: it is forced, or let run for a time only. */
  #goesInTime(pod: Pod): boolean {
    const rule = ruleFor(pod, this.#drain)
    const isForced = this.#drain.onTimeout === 'Force' || rule?.action === 'Force'
    return isForced || (rule?.action === 'WaitForCompletion' && rule.timeout !== undefined)
  }

  /** Without it the budget lets none of its siblings go: where one of them is on a node that is drained is left to chance. */
  #shortOf(pod: Pod): Shortage | undefined {
    const budget = this.#budgetsOf(pod).find(keepsSiblings)
    if (!budget || this.#goesInTime(pod)) return undefined
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`
    const message = `${name} finds no node (${whyUnplaced(pod)}); until it does PodDisruptionBudget ${nameOf(budget)} may let nobody go`
    const view = { node: '', pod: name, code: 'PodDisruptionBudget', message, workload: undefined, budgets: [budget] }
    const { node: _, ...blocker } = podBlocker({ ...view, fitsElsewhere: true })
    const siblings = this.#cluster.server
      .peekAll(pods, { namespace: pod.metadata.namespace ?? '' })
      .filter(({ metadata }) => selects(budget.spec.selector, metadata.labels))
    return { blocker, nodes: new Set(siblings.flatMap(({ spec }) => spec.nodeName ?? [])) }
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

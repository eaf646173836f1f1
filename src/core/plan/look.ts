// A look at every pod that a drain would meet, without a rehearsal: what is certain to hold a drain up, and what might. Whatever is
// neither cannot hold one up for as long as a drain may take; so the doubts are wide.

import type { GateSpec } from '../../api/gate.ts'
import type { Pod, PodDisruptionBudget, TopologySpreadConstraint } from '../../api/kube.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { budgetState } from '../drain/budget-text.ts'
import { type Drain, forceFrom, ruleFor } from '../drain/drain-policy.ts'
import { judgePod } from '../drain/judge-pod.ts'
import { podName } from '../drain/workload-of.ts'
import { allowsNone, type Blocker, podBlocker } from './blocker.ts'
import { BudgetIndex } from './budget-index.ts'
import { gateDoubts, isPodReady } from './gate-doubts.ts'
import type { Itinerary } from './itinerary.ts'
import { RoomLeft } from './room-left.ts'
import { workloadNames } from './workload-names.ts'

export interface LookView {
  readonly snapshot: ClusterSnapshot
  readonly itinerary: Itinerary
  readonly drain: Drain
  /** The policy's and the update's own. */
  readonly gates: readonly GateSpec[]
}

export interface Finding {
  readonly certainty: 'certain' | 'doubtful'
  readonly blocker: Blocker
  /** Where its pods are. */
  readonly nodes: readonly string[]
}

/** Longer than a pod takes to end here and to start elsewhere. */
const movesMs = 40_000
const hostname = 'kubernetes.io/hostname'
/** What only its owner may give up; a time-out does not force it. */
const kept = new Set<string>(['PodUnmanaged', 'PodKeepsData'])
/** What the simulator and every cluster make again when it is evicted. */
const remade = new Set(['ReplicaSet', 'StatefulSet'])

interface Covered {
  readonly budget: PodDisruptionBudget
  readonly byNode: Map<string, number>
  example: Pod
  /** Why it might hold a drain up. */
  doubt?: string
  /** A healthy pod that only the budget keeps. */
  kept: boolean
}

interface Verdict {
  readonly certainty: Finding['certainty']
  readonly why: string
}

export function lookAtPods(view: LookView): readonly Finding[] {
  const look = new Look(view)
  for (const pod of view.snapshot.pods) look.see(pod)
  return look.findings()
}

class Look {
  readonly #view: LookView
  readonly #drained: ReadonlySet<string>
  readonly #budgets: BudgetIndex
  readonly #room: RoomLeft
  readonly #workloadOf: (pod: Pod) => string | undefined
  readonly #sets: ReadonlySet<string>
  readonly #covered = new Map<PodDisruptionBudget, Covered>()
  readonly #found = new Map<string, { readonly finding: Omit<Finding, 'nodes'>; readonly nodes: Set<string> }>()

  constructor(view: LookView) {
    const { nodes, pods, podDisruptionBudgets, replicaSets, statefulSets } = view.snapshot
    this.#view = view
    this.#drained = new Set(view.itinerary.waves.flat())
    this.#budgets = new BudgetIndex(podDisruptionBudgets)
    this.#room = new RoomLeft(nodes, pods, this.#drained, view.itinerary.atOnce)
    this.#workloadOf = workloadNames(replicaSets)
    this.#sets = new Set([...replicaSets, ...statefulSets].map(({ metadata }) => metadata.uid))
  }

  see(pod: Pod): void {
    const node = pod.spec.nodeName ?? ''
    if (!this.#drained.has(node)) return
    const { drain } = this.#view
    const times = { nowMs: 0, sinceMs: 0, deadlineMs: drain.timeoutMs, graceUntilMs: 0 }
    const budgets = this.#budgets.of(pod)
    const allowance = () => ({ left: 1 })
    const judgement = judgePod({ pod, node: { name: node, ready: true }, times, budgets, allowance }, drain)
    // Whatever else keeps it, it goes before the drain is late.
    const isForced = forceFrom(ruleFor(pod, drain), drain, times) !== undefined
    if (isForced && !(judgement.action === 'wait' && kept.has(judgement.reason.code))) return
    if (judgement.action === 'leave') this.#doubtLeaving(pod, node)
    if (judgement.action === 'wait') {
      const certainty = judgement.state === 'Blocked' ? 'certain' : 'doubtful'
      this.#note(certainty, pod, node, judgement.reason, budgets)
    }
    if (judgement.action !== 'evict') return
    if (pod.metadata.finalizers) this.#doubtLeaving(pod, node)
    for (const budget of budgets) this.#cover(budget, pod, node, judgement.budgetUID !== undefined)
  }

  findings(): readonly Finding[] {
    for (const covered of this.#covered.values()) this.#judgeBudget(covered)
    const found = [...this.#found.values()].map(({ finding, nodes }) => ({ ...finding, nodes: [...nodes] }))
    return [...this.#gates(), ...found]
  }

  /** A gate on pods may fail while some of them cannot be well. */
  #gates(): readonly Finding[] {
    const { gates, snapshot } = this.#view
    const isDoubtful = (pod: Pod) => !isPodReady(pod) || this.#doubtOf(pod) !== undefined
    return gateDoubts(gates, snapshot.pods, isDoubtful).map(({ blocker, pod }) => {
      return { certainty: 'doubtful', blocker, nodes: pod.spec.nodeName ? [pod.spec.nodeName] : [] }
    })
  }

  #doubtLeaving(pod: Pod, node: string): void {
    const name = podName(pod)
    const message = pod.metadata.finalizers
      ? `${name} may be kept by ${pod.metadata.finalizers.join(', ')}`
      : `${name} is shutting down already, and may not come to an end`
    for (const code of ['PodFinalizers', 'PodTerminating'] as const)
      this.#note('doubtful', pod, node, { code, message }, [])
  }

  #cover(budget: PodDisruptionBudget, pod: Pod, node: string, kept: boolean): void {
    const covered = this.#covered.get(budget) ?? {
      budget,
      byNode: new Map<string, number>(),
      example: pod,
      kept: false,
    }
    this.#covered.set(budget, covered)
    covered.byNode.set(node, (covered.byNode.get(node) ?? 0) + 1)
    covered.kept ||= kept
    const doubt = covered.doubt ?? this.#doubtOf(pod)
    if (doubt !== undefined) covered.doubt = doubt
  }

  /** Why a pod that goes may not be well again soon. */
  #doubtOf(pod: Pod): string | undefined {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
    if (!owner || !remade.has(owner.kind) || !this.#sets.has(owner.uid))
      return 'nothing is known to make its pods again'
    if (!this.#room.isRoomy(pod)) return 'its pods may find no room while nodes are away'
    if (!isBound(pod)) return undefined
    if (!keepsApart(pod)) return 'where its pods may go depends on where others are'
    const { expectedPods = 0 } = this.#budgets.of(pod)[0]?.status ?? {}
    const places = this.#room.wantedBy(pod).length - expectedPods - this.#view.itinerary.atOnce
    return places < 2 ? 'its pods keep apart, and may have no other node to go to' : undefined
  }

  #judgeBudget({ budget, byNode, example, ...covered }: Covered): void {
    const verdict = this.#verdict({ budget, byNode, example, ...covered })
    if (!verdict) return
    const reason = { code: 'PodDisruptionBudget', message: `${budgetState(budget)}: ${verdict.why}` }
    for (const node of byNode.keys()) this.#note(verdict.certainty, example, node, reason, [budget])
  }

  #verdict({ budget, byNode, doubt, kept }: Covered): Verdict | undefined {
    const { status, metadata } = budget
    const doubtful = (why: string): Verdict => ({ certainty: 'doubtful', why })
    if (!status || status.observedGeneration !== metadata.generation) return doubtful('its status is not up to date')
    if (allowsNone(budget)) {
      return { certainty: kept ? 'certain' : 'doubtful', why: `it wants all of its ${status.expectedPods} pods` }
    }
    const allowed = status.currentHealthy - status.desiredHealthy
    if (allowed < 1) return doubtful('too few of its pods are healthy')
    if (doubt !== undefined) return doubtful(doubt)
    const { itinerary, drain } = this.#view
    const most = [...byNode.values()].sort((a, b) => b - a).slice(0, itinerary.atOnce)
    const sum = most.reduce((total, pods) => total + 2 * pods, 0)
    const atOnce = Math.min(status.expectedPods, sum)
    if (Math.ceil(atOnce / allowed) * movesMs <= drain.timeoutMs) return undefined
    return doubtful(`up to ${atOnce} of its pods have to go at once, ${allowed} at a time`)
  }

  #note(
    certainty: Finding['certainty'],
    pod: Pod,
    node: string,
    { code, message }: { readonly code: string; readonly message: string },
    budgets: readonly PodDisruptionBudget[],
  ): void {
    const workload = this.#workloadOf(pod)
    const blocker = podBlocker({ node, pod: podName(pod), code, message, workload, budgets, fitsElsewhere: true })
    const known = this.#found.get(blocker.key)
    if (known) known.nodes.add(node)
    else this.#found.set(blocker.key, { finding: { certainty, blocker }, nodes: new Set([node]) })
  }
}

/** Where it may go depends on where others are. */
export function isBound({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return [podAffinity, podAntiAffinity].some(hasTerms) || spec.topologySpreadConstraints?.some(isFirm) === true
}

/** From some pods, node by node, and nothing more. */
function keepsApart({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  const terms = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  const isSpread = spec.topologySpreadConstraints?.some(isFirm) ?? false
  return !isSpread && !hasTerms(podAffinity) && terms.every(({ topologyKey }) => topologyKey === hostname)
}

function hasTerms(part: NonNullable<Pod['spec']['affinity']>['podAffinity']): boolean {
  return (part?.requiredDuringSchedulingIgnoredDuringExecution?.length ?? 0) > 0
}

function isFirm({ whenUnsatisfiable }: TopologySpreadConstraint): boolean {
  return whenUnsatisfiable === 'DoNotSchedule'
}

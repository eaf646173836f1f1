// The part of a large cluster that is rehearsed: its nodes with all their pods, and of the rest what counts for them. The other nodes
// stay, smaller by what runs there, so that pods find their way to them; their pods are left out, and budgets and workloads are less
// by as many as were. As long as nothing happens to what is left out, every sum is the one of the whole cluster.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { DaemonSet, KubeObject, Node, Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { checkNames } from '../../api/preflight.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { parseQuantity } from '../../core/kubernetes/quantity.ts'
import { selects } from '../../core/label-selector.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { BudgetIndex } from '../../core/plan/budget-index.ts'
import type { Itinerary } from '../../core/plan/itinerary.ts'
import { isBound } from '../../core/plan/look.ts'
import { type Amounts, podRequests } from '../../core/plan/pod-requests.ts'
import { weightLabel } from '../../core/update/turn-order.ts'
import { strategyOf } from '../../core/update/waves.ts'
import { isOperator } from './loaded-cluster.ts'

export interface Part {
  readonly snapshot: ClusterSnapshot
  readonly spec: DirectUpdateSpec
  /** Nodes on which nothing happens until a pod comes. */
  readonly asleep: ReadonlySet<string>
}

export interface PartView {
  readonly snapshot: ClusterSnapshot
  readonly spec: DirectUpdateSpec
  readonly itinerary: Itinerary
  readonly rehearsed: ReadonlySet<string>
}

const mark = 'slipway.dev/rehearsed'
const defaultPods = 110

export function partOfCluster(view: PartView): Part {
  const { snapshot, itinerary, rehearsed } = view
  const members = new Set([...rehearsed, ...itinerary.unready.flat()])
  // The operator asks the whole control plane, whether or not it is to be updated.
  const leaders = snapshot.nodes.filter((node) => roleOf(node) === 'ControlPlane').map(({ metadata }) => metadata.name)
  const homes = snapshot.pods.flatMap((pod) => (isOperator(pod) && pod.spec.nodeName ? [pod.spec.nodeName] : []))
  const awake = new Set([...members, ...leaders, ...homes])
  const left = new LeftOut(view)
  const pods = snapshot.pods.filter((pod) => !left.take(pod))
  const weights = weightsOf(itinerary)
  const owners = new Set(pods.flatMap((pod) => controllerOf(pod) ?? []))
  const replicaSets = snapshot.replicaSets.filter(
    (set) => owners.has(set.metadata.uid) || (left.fewer(set).spec.replicas ?? 1) > 0,
  )
  const parents = new Set(replicaSets.flatMap((set) => controllerOf(set) ?? []))
  const deployments = snapshot.deployments.filter(({ metadata }) => parents.has(metadata.uid))
  return {
    spec: specOf(view),
    asleep: new Set(snapshot.nodes.map(({ metadata }) => metadata.name).filter((name) => !awake.has(name))),
    snapshot: {
      ...snapshot,
      nodes: snapshot.nodes.map((node) => marked(left.smaller(node), members, weights)),
      pods,
      // Drains skip their pods; what they are kept for are the locks of other tools.
      daemonSets: snapshot.daemonSets.filter((set) => isLock(set, snapshot)).map(withoutPods),
      deployments: deployments.map((one) => left.fewer(one)),
      replicaSets: replicaSets.map((one) => left.fewer(one)),
      podDisruptionBudgets: snapshot.podDisruptionBudgets.flatMap((one) => left.lighter(one) ?? []),
      // Empty, but there: the operator would make them.
      nodeStates: snapshot.nodeStates.map((state) =>
        awake.has(state.metadata.name) ? state : { metadata: state.metadata, spec: {} },
      ),
    },
  }
}

function isLock({ metadata }: KubeObject, { maintenancePolicies }: ClusterSnapshot): boolean {
  const locks = maintenancePolicies.flatMap(({ spec }) => spec.locks ?? [])
  return locks.some(({ daemonSet }) => daemonSet.namespace === metadata.namespace && daemonSet.name === metadata.name)
}

function withoutPods(set: DaemonSet): DaemonSet {
  const { template } = set.spec
  const nowhere = { ...template.spec, nodeSelector: { [mark]: 'nowhere' } }
  return { ...set, spec: { ...set.spec, template: { ...template, spec: nowhere } } }
}

/** Pods that are left out, and what they would have counted for. */
class LeftOut {
  readonly #rehearsed: ReadonlySet<string>
  readonly #sets: ReadonlySet<string>
  readonly #parents: ReadonlyMap<string, string>
  readonly #budgets: BudgetIndex
  readonly #isAskedFor: (pod: Pod) => boolean
  readonly #byOwner = new Map<string, number>()
  readonly #byBudget = new Map<string, number>()
  readonly #asked = new Map<string, Map<string, number>>()
  readonly #requests = new WeakMap<object, Amounts>()

  constructor({ snapshot, spec, rehearsed }: PartView) {
    this.#rehearsed = rehearsed
    this.#sets = new Set(snapshot.replicaSets.map(({ metadata }) => metadata.uid))
    this.#parents = new Map(snapshot.replicaSets.map((set) => [set.metadata.uid, controllerOf(set) ?? '']))
    this.#budgets = new BudgetIndex(snapshot.podDisruptionBudgets)
    const gates = [...(spec.gates ?? []), ...snapshot.maintenancePolicies.flatMap((policy) => policy.spec.gates ?? [])]
    const asking = gates.flatMap((gate) => (gate.type === 'PodsReady' ? [gate] : []))
    this.#isAskedFor = ({ metadata }) =>
      asking.some(({ namespace, selector }) => metadata.namespace === namespace && selects(selector, metadata.labels))
  }

  /** Whether this pod is left out; it is counted then. */
  take(pod: Pod): boolean {
    const { nodeName } = pod.spec
    if (nodeName === undefined || this.#isAskedFor(pod)) return false
    const ended = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (ended) return !this.#rehearsed.has(nodeName)
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
    if (owner?.kind !== 'DaemonSet' && !this.#isQuiet(pod, nodeName, owner?.uid)) return false
    const budgets = this.#budgets.of(pod)
    if (budgets.some(({ metadata, status }) => status?.observedGeneration !== metadata.generation)) return false
    for (const { metadata } of budgets) add(this.#byBudget, metadata.uid, 1)
    add(this.#byOwner, owner?.uid ?? '', 1)
    const parent = this.#parents.get(owner?.uid ?? '')
    if (parent) add(this.#byOwner, parent, 1)
    const asked = this.#asked.get(nodeName) ?? new Map<string, number>()
    this.#asked.set(nodeName, asked)
    for (const [name, amount] of this.#requestsOf(pod)) add(asked, name, amount)
    return true
  }

  /** The node without the room that they take. */
  smaller(node: Node): Node {
    const asked = this.#asked.get(node.metadata.name)
    if (!asked) return node
    const has = { pods: String(defaultPods), ...node.status?.allocatable }
    const allocatable = Object.fromEntries(
      Object.entries(has).map(([name, text]) => [name, less(text, asked.get(name) ?? 0)]),
    )
    return { ...node, status: { ...node.status, allocatable } }
  }

  fewer<T extends KubeObject & { readonly spec: { readonly replicas?: number } }>(object: T): T {
    const left = this.#byOwner.get(object.metadata.uid)
    if (left === undefined) return object
    const { status: _, ...rest } = object as T & { readonly status?: unknown }
    return { ...rest, spec: { ...object.spec, replicas: Math.max(0, (object.spec.replicas ?? 1) - left) } } as T
  }

  /** The budget over the others: what is left out is healthy and stays. Undefined where no other is. */
  lighter(budget: PodDisruptionBudget): PodDisruptionBudget | undefined {
    const left = this.#byBudget.get(budget.metadata.uid)
    const { status, spec } = budget
    if (left === undefined || !status) return budget
    if (left >= status.expectedPods && left >= status.currentHealthy) return undefined
    const desiredHealthy = Math.max(0, status.desiredHealthy - left)
    const { maxUnavailable: _, ...rest } = spec
    return {
      ...budget,
      spec: { ...rest, minAvailable: desiredHealthy },
      status: {
        ...status,
        desiredHealthy,
        currentHealthy: status.currentHealthy - left,
        expectedPods: status.expectedPods - left,
      },
    }
  }

  /** Runs well, far from what is rehearsed, and would be made again by a set whose other pods do not ask where it is. */
  #isQuiet(pod: Pod, nodeName: string, owner: string | undefined): boolean {
    const { metadata, status } = pod
    if (this.#rehearsed.has(nodeName) || !this.#sets.has(owner ?? '') || isOperator(pod)) return false
    if (metadata.deletionTimestamp !== undefined || metadata.finalizers || isBound(pod)) return false
    return status?.phase === 'Running' && (status.conditions?.some(isReady) ?? false)
  }

  #requestsOf({ spec }: Pod): Amounts {
    const known = this.#requests.get(spec.containers)
    if (known) return known
    const asked = podRequests(spec)
    this.#requests.set(spec.containers, asked)
    return asked
  }
}

/** The update for the marked nodes alone, each in the wave it has in the whole cluster, no more of them at once than there. */
function specOf({ snapshot, spec, itinerary, rehearsed }: PartView): DirectUpdateSpec {
  const { skip: _, strategy, ...rest } = spec
  const { waves, maxFailures, first } = strategyOf(strategy)
  // The weights of workers tell their order.
  const leaders = new Set([...(itinerary.waves[0] ?? []), ...(itinerary.unready[0] ?? [])])
  const firstLeaders = first.filter((name) => leaders.has(name))
  let size = 0
  const sizes = itinerary.waves.slice(1).map((names, index) => {
    size += names.filter((name) => rehearsed.has(name)).length + (itinerary.unready[index + 1]?.length ?? 0)
    return size
  })
  return {
    ...rest,
    nodeSelector: { matchLabels: { [mark]: 'yes' } },
    strategy: {
      maxFailures,
      ...(firstLeaders.length > 0 && { first: firstLeaders }),
      maxUnavailable: atOnceOf(itinerary, rehearsed),
      waves: waves.map((wave, index) => ({
        ...wave,
        size: index === waves.length - 1 ? '100%' : Math.max(1, sizes[index] ?? 1),
      })),
    },
    // All of them were asked about the whole cluster, where they can be asked without agents.
    ...(snapshot.installed && { preflight: { skip: [...checkNames] } }),
  }
}

/** As many of them as are ever under work together in the whole cluster; those that are not Ready count at all times. */
function atOnceOf({ waves, unready, maxUnavailable }: Itinerary, rehearsed: ReadonlySet<string>): number {
  const waiting = unready.slice(1).flat().length
  const window = maxUnavailable - waiting
  if (window < 1) return maxUnavailable
  const workers = waves.slice(1).flat()
  let inside = 0
  let most = 0
  for (const [index, name] of workers.entries()) {
    if (rehearsed.has(name)) inside++
    const leaves = workers[index - window]
    if (leaves !== undefined && rehearsed.has(leaves)) inside--
    most = Math.max(most, inside)
  }
  return waiting + Math.max(1, most)
}

/** Zones would take turns otherwise among those that are there; of the control plane all are. */
function weightsOf({ waves, unready }: Itinerary): ReadonlyMap<string, number> {
  const workers = waves.slice(1).flatMap((names, index) => [...names, ...(unready[index + 1] ?? [])])
  return new Map(workers.map((name, index) => [name, workers.length - index]))
}

function marked(node: Node, members: ReadonlySet<string>, weights: ReadonlyMap<string, number>): Node {
  const { name, labels } = node.metadata
  if (!members.has(name)) return node
  const weight = weights.get(name)
  const more = { [mark]: 'yes', ...(weight !== undefined && { [weightLabel]: String(weight) }) }
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...more } } }
}

function less(text: string, amount: number): string {
  const left = Math.max(0, (parseQuantity(text) ?? 0) - amount)
  return String(Math.round(left * 1000) / 1000)
}

function controllerOf({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.uid
}

function isReady({ type, status }: { readonly type: string; readonly status: string }): boolean {
  return type === 'Ready' && status === 'True'
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

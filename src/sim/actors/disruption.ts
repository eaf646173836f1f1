import {
  podDisruptionBudgets as budgetType,
  deployments as deploymentType,
  type Pod,
  type PodDisruptionBudget,
  pods as podType,
  replicaSets as replicaSetType,
  statefulSets as statefulSetType,
} from '../../api/kube.ts'
import { SelectorIndex } from '../server/selector-index.ts'
import { matchesSelector } from '../server/selectors.ts'
import { type ActorContext, controllerOf, hasEnded, isReady } from './actor.ts'
import { BudgetMembers, isHealthy } from './budget-members.ts'
import { KeyedWork } from './keyed-work.ts'

/** An eviction that did not become a deletion by then is forgotten. */
const disruptedForMs = 120_000

/** Keeps the status of each PodDisruptionBudget true. */
export function startDisruption(context: ActorContext): void {
  const { api, clock, signal } = context
  const budgets = context.following(budgetType)
  const pods = context.following(podType)
  const replicaSets = context.following(replicaSetType)
  const deployments = context.following(deploymentType)
  const statefulSets = context.following(statefulSetType)
  const covered = new Map<string, BudgetMembers>()
  const index = new SelectorIndex()
  const podsInNamespace = new Map<string, Set<string>>()
  const work = new KeyedWork({ ...context, delayMs: 20, work: reconcile, failed: context.failed })

  budgets.subscribe((after, before, key) => {
    const budget = after ?? before
    if (budget === undefined) return
    const namespace = budget.metadata.namespace ?? ''
    if (before !== undefined) index.remove(namespace, key, before.spec.selector)
    if (after === undefined) {
      covered.delete(key)
      return
    }
    index.add(namespace, key, after.spec.selector)
    if (before?.metadata.generation !== after.metadata.generation || !covered.has(key)) {
      const members = new BudgetMembers()
      for (const podKey of podsInNamespace.get(namespace) ?? []) {
        const pod = pods.get(podKey)
        if (pod !== undefined && matchesSelector(after.spec.selector, pod.metadata.labels)) members.put(podKey, pod)
      }
      covered.set(key, members)
    }
    work.mark(key)
  })
  pods.subscribe((after, before, podKey) => {
    const pod = after ?? before
    if (pod === undefined) return
    const namespace = pod.metadata.namespace ?? ''
    if (after === undefined || before === undefined) {
      const neighbours = podsInNamespace.get(namespace) ?? new Set<string>()
      podsInNamespace.set(namespace, neighbours)
      if (after === undefined) neighbours.delete(podKey)
      else neighbours.add(podKey)
    } else if (!matters(after, before)) return
    judgeBudgets(namespace, after?.metadata.labels ?? before?.metadata.labels, after, podKey)
    if (after !== undefined && before !== undefined && after.metadata.labels !== before.metadata.labels)
      judgeBudgets(namespace, before.metadata.labels, after, podKey)
  })
  for (const scaled of [deployments, replicaSets, statefulSets]) {
    scaled.subscribe((after, before) => {
      if (after?.spec.replicas === before?.spec.replicas) return
      const namespace = (after ?? before)?.metadata.namespace ?? ''
      for (const key of index.inNamespace(namespace)) work.mark(key)
    })
  }

  /** Puts the pod into the budgets that cover it, and takes it out of the others of those that may. */
  function judgeBudgets(
    namespace: string,
    labels: Pod['metadata']['labels'],
    after: Pod | undefined,
    podKey: string,
  ): void {
    for (const key of index.candidates(namespace, labels)) {
      const members = covered.get(key)
      const selector = budgets.get(key)?.spec.selector
      if (after !== undefined && matchesSelector(selector, after.metadata.labels)) members?.put(podKey, after)
      else if (members?.get(podKey) !== undefined) members.delete(podKey)
      else continue
      work.mark(key)
    }
  }

  async function reconcile(key: string): Promise<void> {
    const budget = budgets.get(key)
    const members = covered.get(key)
    if (budget === undefined || members === undefined) return
    const disruptedPods = stillDisrupted(budget, members, clock.now().getTime())
    const currentHealthy = members.healthy - countHealthy(disruptedPods, budget, members)
    const expectedPods = expected(budget, members)
    const desiredHealthy = desired(budget, expectedPods)
    const allowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0
    const status = {
      observedGeneration: budget.metadata.generation ?? 0,
      disruptionsAllowed: allowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
    }
    if (Object.keys(disruptedPods).length > 0) clock.after(disruptedForMs, () => work.mark(key))
    if (isReported(budget, status, disruptedPods)) return
    const removed = Object.keys(budget.status?.disruptedPods ?? {}).filter((name) => disruptedPods[name] === undefined)
    const body = {
      metadata: { resourceVersion: budget.metadata.resourceVersion },
      status: { ...status, disruptedPods: Object.fromEntries(removed.map((name) => [name, null])) },
    }
    const { name, namespace = '' } = budget.metadata
    budgets.learn(await api.patch(budgetType, { name, namespace }, { type: 'merge', body }, signal, 'status'))
  }

  /** A number of healthy pods is of the pods that are there; anything else is of what their controllers ask for. */
  function expected(budget: PodDisruptionBudget, members: BudgetMembers): number {
    const { minAvailable, maxUnavailable } = budget.spec
    if (maxUnavailable === undefined && typeof minAvailable !== 'string') return members.present
    const scales = new Map<string, number>()
    for (const owner of members.owners()) {
      const { uid, replicas } = scaleOf(owner.key, owner.kind)
      if (uid !== undefined) scales.set(uid, replicas)
    }
    return [...scales.values()].reduce((total, replicas) => total + replicas, 0)
  }

  function scaleOf(key: string, kind: string): { readonly uid: string | undefined; readonly replicas: number } {
    const set = kind === 'StatefulSet' ? statefulSets.get(key) : replicaSets.get(key)
    const parent = set === undefined ? undefined : controllerOf(set)
    const deployment = parent === undefined ? undefined : deployments.get(`${set?.metadata.namespace}/${parent.name}`)
    const scaled = deployment ?? set
    return { uid: scaled?.metadata.uid, replicas: scaled?.spec.replicas ?? 1 }
  }
}

function desired(budget: PodDisruptionBudget, expectedPods: number): number {
  const { minAvailable, maxUnavailable } = budget.spec
  if (maxUnavailable !== undefined) return Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods))
  return minAvailable === undefined ? expectedPods : scaled(minAvailable, expectedPods)
}

/** Percentages are rounded up, as the disruption controller does. */
function scaled(value: number | string, total: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * total) / 100)
}

function stillDisrupted(
  budget: PodDisruptionBudget,
  members: BudgetMembers,
  nowMs: number,
): Readonly<Record<string, string>> {
  const disrupted: Record<string, string> = {}
  for (const [name, since] of Object.entries(budget.status?.disruptedPods ?? {})) {
    const pod = members.get(`${budget.metadata.namespace}/${name}`)
    if (pod === undefined || hasEnded(pod) || pod.metadata.deletionTimestamp !== undefined) continue
    if (nowMs - Date.parse(since) < disruptedForMs) disrupted[name] = since
  }
  return disrupted
}

/** Those about to go that still count as healthy. */
function countHealthy(
  disruptedPods: Readonly<Record<string, string>>,
  budget: PodDisruptionBudget,
  members: BudgetMembers,
): number {
  let count = 0
  for (const name in disruptedPods) {
    const pod = members.get(`${budget.metadata.namespace}/${name}`)
    if (pod !== undefined && isHealthy(pod)) count++
  }
  return count
}

function isReported(
  budget: PodDisruptionBudget,
  status: Omit<NonNullable<PodDisruptionBudget['status']>, 'disruptedPods' | 'conditions'>,
  disruptedPods: Readonly<Record<string, string>>,
): boolean {
  const known = budget.status
  return (
    known !== undefined &&
    known.observedGeneration === status.observedGeneration &&
    known.disruptionsAllowed === status.disruptionsAllowed &&
    known.currentHealthy === status.currentHealthy &&
    known.desiredHealthy === status.desiredHealthy &&
    known.expectedPods === status.expectedPods &&
    Object.keys(known.disruptedPods ?? {}).length === Object.keys(disruptedPods).length
  )
}

function matters(after: Pod, before: Pod): boolean {
  return (
    isReady(after) !== isReady(before) ||
    after.status?.phase !== before.status?.phase ||
    after.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
    after.metadata.labels !== before.metadata.labels
  )
}

// The drain ladder, pod by pod, each with a reason: skip what belongs to the node, refuse what policy protects, wait for
// budgets, evict the rest. Rule 7: nothing is deleted by force here; budgets are honoured by the eviction API.

import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import type { Reason } from '../../api/reason.ts'

export interface DrainPolicy {
  readonly unmanagedPods: 'Block' | 'Delete'
  readonly emptyDir: 'Delete' | 'Block'
}

export interface PodView {
  readonly pod: Pod
  /** The budgets that select this pod. */
  readonly budgets: readonly PodDisruptionBudget[]
  /** Evictions we asked for that the budget's status does not show yet, by budget uid. */
  readonly reserved: (budgetUID: string) => number
  /** One of our own operator's pods, and whether another node could take it over. */
  readonly operator?: 'moves' | 'stays' | undefined
}

export type PodJudgement =
  /** Stays on the node; the drain does not wait for it. */
  | { readonly action: 'skip'; readonly reason: Reason }
  /** Must go, cannot be asked to now. */
  | { readonly action: 'wait'; readonly reason: Reason }
  /** Ask for its eviction; `budgetUID` is charged until the budget's status shows it. */
  | { readonly action: 'evict'; readonly reason: Reason; readonly budgetUID?: string }

export function judgePod(view: PodView, policy: DrainPolicy): PodJudgement {
  const { pod } = view
  const name = podName(pod)
  const skip = (code: Reason['code'], message: string): PodJudgement => ({ action: 'skip', reason: { code, message } })
  const wait = (code: Reason['code'], message: string): PodJudgement => ({ action: 'wait', reason: { code, message } })

  if (pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined) {
    return skip('PodMirror', `${name} is a static pod`)
  }
  if (controllerKind(pod) === 'DaemonSet') return skip('PodOfDaemonSet', `${name} belongs to a DaemonSet`)
  if (view.operator === 'stays') return skip('PodOfOperator', `${name} is the operator and no other node can take it`)
  if (pod.metadata.deletionTimestamp !== undefined) {
    return wait('PodTerminating', `${name} is shutting down since ${pod.metadata.deletionTimestamp}`)
  }
  if (hasEnded(pod)) return skip('PodFinished', `${name} has ended`)
  if (controllerKind(pod) === undefined && policy.unmanagedPods === 'Block') {
    return wait('PodUnmanaged', `${name} has no controller that would make it again`)
  }
  if (policy.emptyDir === 'Block' && pod.spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined)) {
    return wait('PodKeepsData', `${name} keeps data in an emptyDir`)
  }
  const evict: PodJudgement = { action: 'evict', reason: { code: 'PodEvicting', message: `evicting ${name}` } }
  // Not started: the API server lets it go without a look at any budget.
  if (pod.status?.phase === 'Pending') return evict
  const [budget, second] = view.budgets
  if (budget && second) {
    return wait(
      'PodUnderTwoBudgets',
      `${name} is selected by ${budgetName(budget)} and ${budgetName(second)}; the API server evicts no such pod`,
    )
  }
  if (!budget || evictsFreely(pod, budget)) return evict
  const allowed = (budget.status?.disruptionsAllowed ?? 0) - view.reserved(budget.metadata.uid)
  if (allowed > 0) return { ...evict, budgetUID: budget.metadata.uid }
  return wait('PodDisruptionBudget', `${name} waits for ${budgetState(budget)}`)
}

export function podName(pod: Pod): string {
  return `${pod.metadata.namespace}/${pod.metadata.name}`
}

/** What the budget says, in a person's words. */
export function budgetState(budget: PodDisruptionBudget): string {
  const { status } = budget
  const health = status
    ? `${status.currentHealthy} of ${status.desiredHealthy} needed pods are healthy`
    : 'no status yet'
  return `${budgetName(budget)} (${status?.disruptionsAllowed ?? 0} disruptions allowed; ${health})`
}

function budgetName(budget: PodDisruptionBudget): string {
  return `PodDisruptionBudget ${budget.metadata.namespace}/${budget.metadata.name}`
}

/** The API server lets these go at no charge: not healthy, where the budget says so or has enough without. */
function evictsFreely(pod: Pod, budget: PodDisruptionBudget): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
  if (ready) return false
  if (budget.spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

function controllerKind(pod: Pod): string | undefined {
  return pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind
}

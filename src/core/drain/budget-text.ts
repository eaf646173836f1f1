// What a PodDisruptionBudget says, and who keeps it from allowing more, in a person's words.

import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { hasEnded, podName } from './workload-of.ts'

export function budgetName({ metadata }: PodDisruptionBudget): string {
  return `PodDisruptionBudget ${metadata.namespace}/${metadata.name}`
}

export function budgetState(budget: PodDisruptionBudget): string {
  const { status } = budget
  const health = status
    ? `${status.currentHealthy} of ${status.desiredHealthy} needed pods are healthy`
    : 'no status yet'
  return `${budgetName(budget)} (${status?.disruptionsAllowed ?? 0} disruptions allowed; ${health})`
}

/**
 * Why the cluster cannot reckon it, in its own words: then it allows nobody to go, and its numbers are of before. It is so with
 * percentages and `maxUnavailable` over pods whose owner has no scale.
 */
export function unreckoned({ status }: PodDisruptionBudget): string | undefined {
  const told = status?.conditions?.find(({ type, status: holds }) => type === 'DisruptionAllowed' && holds === 'False')
  return told?.reason === 'SyncFailed' ? (told.message || 'SyncFailed').slice(0, 300) : undefined
}

/**
 * The very pod that keeps the budget from allowing, or why none is to be blamed; `pods` are those the budget selects.
 * Undefined where nothing can be said that the budget's own state does not say.
 */
export function budgetKeeper(budget: PodDisruptionBudget, pods: readonly Pod[]): string | undefined {
  const failure = unreckoned(budget)
  if (failure !== undefined) return `the cluster cannot reckon it (${failure}); give it minAvailable as a number`
  const { desiredHealthy = 0, expectedPods = 0 } = budget.status ?? {}
  const alive = pods.filter((pod) => !hasEnded(pod))
  const [keeper] = alive.flatMap((pod) => troubleOf(pod) ?? []).toSorted((a, b) => a.rank - b.rank)
  if (keeper) return keeper.text
  if (alive.length < expectedPods) return `only ${alive.length} of its ${expectedPods} pods exist`
  if (expectedPods > 0 && desiredHealthy >= expectedPods) {
    return `it wants all of its ${expectedPods} pods, so that it never allows one to go; add a replica or lower what it wants`
  }
  return undefined
}

/** What is wrong with a pod, the worst first: one that runs nowhere will not mend by waiting, one that goes will. */
function troubleOf(pod: Pod): { readonly rank: number; readonly text: string } | undefined {
  const { metadata, spec, status } = pod
  const say = (rank: number, text: string) => ({ rank, text: `pod ${podName(pod)} ${text}` })
  const on = spec.nodeName ? ` on ${spec.nodeName}` : ''
  if (metadata.deletionTimestamp !== undefined) {
    return say(3, `is shutting down${on} since ${metadata.deletionTimestamp}`)
  }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  if (!spec.nodeName) {
    const unscheduled = status?.conditions?.find(
      ({ type, status: holds }) => type === 'PodScheduled' && holds === 'False',
    )
    const since = unscheduled?.lastTransitionTime ?? metadata.creationTimestamp
    const cause = unscheduled?.message ? `: ${unscheduled.message.slice(0, 200)}` : ''
    return say(0, `is Pending on no node since ${since}${cause}`)
  }
  if (status?.phase === 'Pending') return say(1, `is Pending${on} since ${metadata.creationTimestamp}`)
  if (ready?.status !== 'True') {
    return say(2, `is not Ready${on} since ${ready?.lastTransitionTime ?? metadata.creationTimestamp}`)
  }
  return undefined
}

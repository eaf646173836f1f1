// The eviction sub-resource, as the API server's pod registry does it: one budget is checked and spent before the delete,
// two budgets are refused, pods that run nothing are never held back.

import { podDisruptionBudgets } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { EvictOptions } from '../../ports/kube-api.ts'
import { checkPreconditions, deleteObject, timestamp } from './deletion.ts'
import { isJsonObject } from './json.ts'
import type { ObjectStore } from './object-store.ts'
import { forbidden } from './refusals.ts'
import type { ResourceTable } from './resource-table.ts'
import { matchesSelector } from './selectors.ts'
import type { StoredObject } from './stored-object.ts'

const refusal = "Cannot evict pod as it would violate the pod's disruption budget."
const disruptedPodsLimit = 2000

export function evictPod(
  store: ObjectStore,
  pods: ResourceTable,
  pod: StoredObject,
  options: EvictOptions,
  nowMs: number,
  client: string,
): void {
  if (!ignoresBudgets(pod)) spendBudget(store, pod, nowMs, client)
  checkPreconditions(pods, pod, { uid: options.uid })
  const { gracePeriodSeconds } = options
  deleteObject(store, pods, pod, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }, nowMs, client)
}

function ignoresBudgets(pod: StoredObject): boolean {
  const phase = pod.status?.phase
  if (pod.metadata.deletionTimestamp !== undefined) return true
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
}

function spendBudget(store: ObjectStore, pod: StoredObject, nowMs: number, client: string): void {
  const table = store.table(podDisruptionBudgets)
  const budgets = budgetsOf(table, pod)
  if (budgets.length > 1) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    throw new KubeError('ServerError', message, { status: 500 })
  }
  const [budget] = budgets
  if (budget === undefined || (!isReady(pod) && letsUnhealthyGo(budget))) return
  store.update(table, budget, spent(budget, pod, nowMs), client)
}

function budgetsOf(table: ResourceTable, pod: StoredObject): readonly StoredObject[] {
  const { namespace, labels } = pod.metadata
  if (namespace === undefined || labels === undefined) return []
  const found: StoredObject[] = []
  for (const budget of table.inNamespace(namespace)) {
    const selector = budget.spec?.selector
    if (isJsonObject(selector) && matchesSelector(selector, labels)) found.push(budget)
  }
  return found
}

function isReady(pod: StoredObject): boolean {
  const conditions = pod.status?.conditions
  if (!Array.isArray(conditions)) return false
  return conditions.some((condition: unknown) => {
    return isJsonObject(condition) && condition.type === 'Ready' && condition.status === 'True'
  })
}

function letsUnhealthyGo(budget: StoredObject): boolean {
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const desired = count(budget, 'desiredHealthy')
  return desired > 0 && count(budget, 'currentHealthy') >= desired
}

function spent(budget: StoredObject, pod: StoredObject, nowMs: number): StoredObject {
  const { name, generation } = budget.metadata
  if (count(budget, 'observedGeneration') < (generation ?? 0)) {
    throw tooMany(`The disruption budget ${name} is still being processed by the server.`, 10_000)
  }
  const allowed = count(budget, 'disruptionsAllowed')
  if (allowed < 0) throw forbidden(`poddisruptionbudget "${name}" is forbidden: pdb disruptions allowed is negative`)
  const disrupted = isJsonObject(budget.status?.disruptedPods) ? budget.status.disruptedPods : {}
  if (Object.keys(disrupted).length > disruptedPodsLimit) {
    throw forbidden(`poddisruptionbudget "${name}" is forbidden: DisruptedPods map too big`)
  }
  if (allowed === 0) {
    const needs = count(budget, 'desiredHealthy')
    const has = count(budget, 'currentHealthy')
    throw tooMany(`The disruption budget ${name} needs ${needs} healthy pods and has ${has} currently`, 0)
  }
  const disruptedPods = { ...disrupted, [pod.metadata.name]: timestamp(nowMs) }
  return { ...budget, status: { ...budget.status, disruptionsAllowed: allowed - 1, disruptedPods } }
}

function tooMany(message: string, retryAfterMs: number): KubeError {
  return new KubeError('TooManyRequests', refusal, {
    status: 429,
    reason: 'TooManyRequests',
    retryAfterMs,
    causes: [{ reason: 'DisruptionBudget', message }],
  })
}

function count(budget: StoredObject, field: string): number {
  const value = budget.status?.[field]
  return typeof value === 'number' ? value : 0
}

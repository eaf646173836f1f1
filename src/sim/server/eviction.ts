// The eviction sub-resource, as the API server's pod registry does it: one budget is checked and spent before the delete,
// two budgets are refused, pods that run nothing are never held back.

import { type KubeObject, type LabelSelector, type PodDisruptionBudget, podDisruptionBudgets } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { EvictOptions } from '../../ports/kube-api.ts'
import { checkPreconditions, deleteObject, timestamp } from './deletion.ts'
import { isJsonObject } from './json.ts'
import type { CommittedChange, ObjectStore } from './object-store.ts'
import { forbidden } from './refusals.ts'
import type { ResourceTable } from './resource-table.ts'
import { SelectorIndex } from './selector-index.ts'
import { matchesSelector } from './selectors.ts'
import type { StoredObject } from './stored-object.ts'

const refusal = "Cannot evict pod as it would violate the pod's disruption budget."
const disruptedPodsLimit = 2000

export class Evictions {
  readonly #store: ObjectStore
  readonly #selectors = new SelectorIndex()

  constructor(store: ObjectStore) {
    this.#store = store
    store.onCommit((change) => {
      if (change.kind === podDisruptionBudgets.kind) this.#note(change)
    })
  }

  evict(pods: ResourceTable, pod: StoredObject, options: EvictOptions, nowMs: number, client: string): void {
    if (!ignoresBudgets(pod)) this.#spendBudget(pod, nowMs, client)
    checkPreconditions(pods, pod, { uid: options.uid })
    const { gracePeriodSeconds } = options
    deleteObject(this.#store, pods, pod, gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }, nowMs, client)
  }

  #note({ before, after }: CommittedChange): void {
    if (before !== undefined) {
      this.#selectors.remove(before.metadata.namespace ?? '', before.metadata.name, selectorOf(before))
    }
    if (after !== undefined) {
      this.#selectors.add(after.metadata.namespace ?? '', after.metadata.name, selectorOf(after))
    }
  }

  #spendBudget(pod: StoredObject, nowMs: number, client: string): void {
    const table = this.#store.table(podDisruptionBudgets)
    const budgets = this.#budgetsOf(table, pod)
    if (budgets.length > 1) {
      const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
      throw new KubeError('ServerError', message, { status: 500 })
    }
    const [budget] = budgets
    if (budget === undefined || (!isReady(pod) && letsUnhealthyGo(budget))) return
    this.#store.update(table, budget, spent(budget, pod, nowMs), client)
  }

  #budgetsOf(table: ResourceTable, pod: StoredObject): readonly StoredObject[] {
    const { namespace, labels } = pod.metadata
    if (namespace === undefined || labels === undefined) return []
    const found: StoredObject[] = []
    for (const name of this.#selectors.candidates(namespace, labels)) {
      const budget = table.get(namespace, name)
      if (budget !== undefined && matchesSelector(selectorOf(budget), labels)) found.push(budget)
    }
    return found
  }
}

function selectorOf(budget: KubeObject): LabelSelector | undefined {
  return (budget as PodDisruptionBudget).spec.selector
}

function ignoresBudgets(pod: StoredObject): boolean {
  const phase = pod.status?.phase
  if (pod.metadata.deletionTimestamp !== undefined) return true
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
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

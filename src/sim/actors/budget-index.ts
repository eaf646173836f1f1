import type { KubeObject, PodDisruptionBudget } from '../../api/kube.ts'
import { keyOf } from './following.ts'

/** Budgets by one label they ask for, so that a pod's budgets are found without looking at all of its namespace's. */
export class BudgetIndex {
  readonly #byNamespace = new Map<string, Map<string, Set<string>>>()

  add(budget: PodDisruptionBudget): void {
    const namespace = budget.metadata.namespace ?? ''
    let index = this.#byNamespace.get(namespace)
    if (index === undefined) {
      index = new Map()
      this.#byNamespace.set(namespace, index)
    }
    const term = termOf(budget)
    const keys = index.get(term)
    if (keys === undefined) index.set(term, new Set([keyOf(budget)]))
    else keys.add(keyOf(budget))
  }

  remove(budget: PodDisruptionBudget): void {
    const index = this.#byNamespace.get(budget.metadata.namespace ?? '')
    const keys = index?.get(termOf(budget))
    keys?.delete(keyOf(budget))
    if (keys?.size === 0) index?.delete(termOf(budget))
  }

  /** Those that may match; the caller asks the selector. */
  *candidates(namespace: string, labels: KubeObject['metadata']['labels']): Iterable<string> {
    const index = this.#byNamespace.get(namespace)
    if (index === undefined) return
    yield* index.get('') ?? []
    for (const label in labels) yield* index.get(`${label}=${labels[label]}`) ?? []
  }

  *inNamespace(namespace: string): Iterable<string> {
    for (const keys of this.#byNamespace.get(namespace)?.values() ?? []) yield* keys
  }
}

function termOf(budget: PodDisruptionBudget): string {
  const { matchLabels } = budget.spec.selector ?? {}
  for (const label in matchLabels) return `${label}=${matchLabels[label]}`
  return ''
}

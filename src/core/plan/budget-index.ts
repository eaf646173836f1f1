import type { Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { requiredTerm, selects, termsOf } from '../label-selector.ts'

/** The budgets that select a pod, found by one label that they all ask for. */
export class BudgetIndex {
  readonly #budgets = new Map<string, PodDisruptionBudget[]>()

  constructor(budgets: Iterable<PodDisruptionBudget>) {
    for (const budget of budgets) {
      if (budget.spec.selector === undefined) continue
      const key = `${budget.metadata.namespace}/${requiredTerm(budget.spec.selector)}`
      const known = this.#budgets.get(key)
      if (known) known.push(budget)
      else this.#budgets.set(key, [budget])
    }
  }

  of({ metadata }: Pick<Pod, 'metadata'>): readonly PodDisruptionBudget[] {
    const { namespace, labels } = metadata
    const found: PodDisruptionBudget[] = []
    for (const term of termsOf(labels)) {
      for (const budget of this.#budgets.get(`${namespace}/${term}`) ?? []) {
        if (selects(budget.spec.selector, labels)) found.push(budget)
      }
    }
    return found
  }
}

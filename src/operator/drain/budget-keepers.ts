// Who keeps a budget from allowing a disruption. Pods elsewhere are not watched; they are looked at once a budget has held
// up a drain for a while, and again when it has changed, never often.

import { type PodDisruptionBudget, pods } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { budgetKeeper } from '../../core/drain/budget-text.ts'
import { selectorText } from '../../core/label-selector.ts'
import type { OperatorPorts } from '../ports.ts'

const everyMs = 15_000
/** Of a larger workload some are looked at: whoever is in trouble is seldom alone. */
const mostPods = 500

interface Look {
  readonly resourceVersion: string
  readonly atMs: number
  readonly text: string | undefined
}

export class BudgetKeepers {
  readonly #ports: OperatorPorts
  readonly #looks = new Map<string, Look>()

  constructor(ports: OperatorPorts) {
    this.#ports = ports
  }

  of(budget: PodDisruptionBudget): string | undefined {
    return this.#looks.get(budget.metadata.uid)?.text
  }

  async look(budget: PodDisruptionBudget, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace = '' } = budget.metadata
    const nowMs = this.#ports.clock.monotonicMs()
    const last = this.#looks.get(uid)
    if (last && (last.resourceVersion === resourceVersion || nowMs < last.atMs + everyMs)) return
    this.#forgetOld(nowMs)
    const text = await this.#find(budget, namespace, signal)
    this.#looks.set(uid, { resourceVersion, atMs: nowMs, text })
  }

  async #find(budget: PodDisruptionBudget, namespace: string, signal: AbortSignal): Promise<string | undefined> {
    const { selector } = budget.spec
    if (!selector) return undefined
    const labelSelector = selectorText(selector)
    try {
      const selection = { namespace, ...(labelSelector !== '' && { labelSelector }), limit: mostPods }
      return budgetKeeper(budget, (await this.#ports.api.list(pods, selection, signal)).items)
    } catch (error) {
      // It is only told, nothing depends on it.
      if (!isKubeError(error)) throw error
      this.#ports.log.debug('cannot look at the pods of a budget', { namespace, code: error.code })
      return undefined
    }
  }

  #forgetOld(nowMs: number): void {
    for (const [uid, { atMs }] of this.#looks) if (nowMs - atMs > 100 * everyMs) this.#looks.delete(uid)
  }
}

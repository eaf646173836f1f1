// What was asked of the API server for the pods of one node: evictions, and deletions where force is due. Each answer is
// remembered until the watch tells more or it is time to ask again.

import { type Pod, pods } from '../../api/kube.ts'
import { isKubeError, type KubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import { judgeRefusal } from '../../core/drain/judge-refusal.ts'
import { podName } from '../../core/drain/workload-of.ts'
import type { OperatorPorts } from '../ports.ts'
import type { BudgetWatch } from './budget-watch.ts'

interface Answer {
  readonly action: Wanted['action']
  /** Absent: it was accepted. */
  readonly refusal?: Reason
  readonly againAtMs: number
  /** Whether the pod was going already when it was asked for. */
  readonly wasGoing: boolean
}

interface Wanted {
  readonly action: 'evict' | 'force'
  readonly budgetUID?: string
  readonly graceSeconds?: number
}

/** After this the watch should have shown it. */
const acceptedMs = 30_000
/** It is not there any more, or was changed at the same time: the watch shows which, or it is asked for again. */
const goneMs = 5_000

export class Requests {
  readonly #ports: OperatorPorts
  readonly #budgets: BudgetWatch
  readonly #node: string
  /** By pod uid. */
  readonly #answers = new Map<string, Answer>()

  constructor({ ports, budgets }: { readonly ports: OperatorPorts; readonly budgets: BudgetWatch }, node: string) {
    this.#ports = ports
    this.#budgets = budgets
    this.#node = node
  }

  /** Accepted, and the watch does not show it yet. */
  isUnderWay(pod: Pod): boolean {
    const answer = this.#answerFor(pod)
    return answer !== undefined && answer.refusal === undefined
  }

  /** Under way, or refused a moment ago. That its eviction is refused does not hold force up. */
  isAnswered(pod: Pod, action: Wanted['action']): boolean {
    const answer = this.#answerFor(pod)
    return answer !== undefined && (answer.refusal === undefined || answer.action === action)
  }

  refusalOf(pod: Pod): Reason | undefined {
    return this.#answerFor(pod)?.refusal
  }

  /** How long until it may be asked for again. */
  restMs(pod: Pod): number | undefined {
    const answer = this.#answerFor(pod)
    return answer && answer.againAtMs - this.#ports.clock.monotonicMs()
  }

  async send(pod: Pod, { action, budgetUID, graceSeconds }: Wanted, signal: AbortSignal): Promise<void> {
    const { name, namespace = '', uid } = pod.metadata
    const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }
    const charged = this.#budgets.budgetsOf(pod).find(({ metadata }) => metadata.uid === budgetUID)
    if (charged) this.#budgets.reserve(charged)
    try {
      if (action === 'evict') await this.#ports.api.evict({ name, namespace }, { uid, ...grace }, signal)
      else await this.#ports.api.delete(pods, { name, namespace }, { uid, ...grace }, signal)
      this.#remember(pod, action, acceptedMs)
      this.#count(action, 'Accepted')
    } catch (error) {
      if (charged) this.#budgets.unreserve(charged)
      if (!isKubeError(error)) throw error
      const isGone = isKubeError(error, 'NotFound', 'Conflict')
      this.#count(action, isGone ? 'Gone' : 'Refused')
      if (isGone) this.#remember(pod, action, goneMs)
      else this.#refused(pod, action, error)
    }
  }

  #count(action: Wanted['action'], result: 'Accepted' | 'Refused' | 'Gone'): void {
    const { metrics } = this.#ports
    if (action === 'evict') metrics?.add('slipway_evictions_total', { result })
    else if (result === 'Accepted') metrics?.add('slipway_forced_deletions_total', {})
  }

  #refused(pod: Pod, action: Wanted['action'], error: KubeError): void {
    const { reason, afterMs } = judgeRefusal(podName(pod), error)
    this.#remember(pod, action, afterMs, reason)
    const [budget] = this.#budgets.budgetsOf(pod)
    if (budget && reason.code === 'PodDisruptionBudget') this.#budgets.waitFor(budget, this.#node)
  }

  #remember({ metadata }: Pod, action: Wanted['action'], afterMs: number, refusal?: Reason): void {
    const againAtMs = this.#ports.clock.monotonicMs() + afterMs
    const wasGoing = metadata.deletionTimestamp !== undefined
    this.#answers.set(metadata.uid, { action, againAtMs, wasGoing, ...(refusal && { refusal }) })
  }

  /** The answer to an eviction is of no interest once the pod is going. */
  #answerFor({ metadata }: Pod): Answer | undefined {
    const answer = this.#answers.get(metadata.uid)
    if (answer?.wasGoing !== (metadata.deletionTimestamp !== undefined)) return undefined
    return this.#ports.clock.monotonicMs() < answer.againAtMs ? answer : undefined
  }
}

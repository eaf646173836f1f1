import type { KubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'

const retryMs = { refused: 5_000, overBudget: 1_000, most: 10_000 }

export interface Refusal {
  readonly reason: Pick<Reason, 'code' | 'message'>
  /** When to ask again. */
  readonly afterMs: number
}

/** Why the API server does not let a pod go. Its 429 speaks of a budget only if it says so: a webhook may answer the same. */
export function judgeRefusal(pod: string, error: KubeError): Refusal {
  const budget = error.causes.find(({ reason }) => reason === 'DisruptionBudget')
  if (error.code === 'TooManyRequests' && budget) {
    const message = `${pod}: ${error.message}${budget.message ? ` ${budget.message}` : ''}`
    const afterMs = Math.max(retryMs.overBudget, Math.min(error.retryAfterMs ?? 0, retryMs.most))
    return { reason: { code: 'PodDisruptionBudget', message }, afterMs }
  }
  const isUnderTwo = error.code === 'ServerError' && /more than one PodDisruptionBudget/.test(error.message)
  const code = isUnderTwo ? 'PodUnderTwoBudgets' : 'PodEvictionRefused'
  return { reason: { code, message: `${pod}: ${error.message}` }, afterMs: retryMs.refused }
}

// Views of one pod of a node that drains, with only what a case is about to be said.

import type { PodDisruptionBudget } from '../../src/api/kube.ts'
import type { PodJudgement, PodView } from '../../src/core/drain/judge-pod.ts'
import { metadata, type PodTraits, samplePod } from './cluster-objects.ts'

interface BudgetTraits {
  readonly allowed?: number
  readonly healthy?: number
  readonly desired?: number
  readonly unhealthy?: 'IfHealthyBudget' | 'AlwaysAllow'
}

export const pdb = (
  name: string,
  { allowed = 0, healthy = 2, desired = 2, unhealthy }: BudgetTraits = {},
): PodDisruptionBudget => ({
  metadata: metadata(name, { namespace: 'shop' }),
  spec: { ...(unhealthy && { unhealthyPodEvictionPolicy: unhealthy }) },
  status: { disruptionsAllowed: allowed, currentHealthy: healthy, desiredHealthy: desired, expectedPods: 3 },
})
export const noStatus: PodDisruptionBudget = { metadata: metadata('new', { namespace: 'shop' }), spec: {} }

export const noon = Date.parse('2026-01-01T12:00:00Z')
export const at = (seconds: number) => noon + seconds * 1000
export const instant = (seconds: number) => `${new Date(at(seconds)).toISOString().slice(0, 19)}Z`

/** A pod of w1, which is being drained since noon and late after ten minutes. */
export const viewOf = (pod: PodTraits = {}, part: Partial<PodView> & { readonly now?: number } = {}): PodView => {
  const { now = 1, ...rest } = part
  return {
    pod: samplePod('p', pod),
    node: { name: 'w1', ready: true },
    times: { nowMs: at(now), sinceMs: noon, deadlineMs: at(600), graceUntilMs: noon },
    budgets: [],
    allowance: ({ status }) => ({ left: status?.disruptionsAllowed ?? 0 }),
    ...rest,
  }
}
export const said = (judgement: PodJudgement) => {
  const state = 'state' in judgement ? ` ${judgement.state}` : ''
  const budget = judgement.action === 'evict' && judgement.budgetUID ? ` ${judgement.budgetUID}` : ''
  const grace = 'graceSeconds' in judgement ? ` grace ${judgement.graceSeconds}` : ''
  const { code, message } = judgement.reason
  return `${judgement.action}${state} ${code}${budget}${grace}: ${message}`
}
export const inSeconds = (judgement: PodJudgement) =>
  'nextMs' in judgement && judgement.nextMs !== undefined ? (judgement.nextMs - noon) / 1000 : undefined

export const data = {
  spec: {
    volumes: [
      { name: 'config', configMap: {} },
      { name: 'data', emptyDir: {} },
    ],
  },
}

export const evicting = 'evict PodEvicting: evicting shop/p'
export const charged = (budget: string) => `evict PodEvicting uid-${budget}: evicting shop/p`
export const blocked = (state: string) =>
  `wait Blocked PodDisruptionBudget: shop/p of ReplicaSet shop/owner waits for PodDisruptionBudget shop/${state}`
export const spent = blocked('web (0 disruptions allowed; 2 of 2 needed pods are healthy)')
export const short = blocked('web (0 disruptions allowed; 1 of 2 needed pods are healthy)')
export const mirror = { annotations: { 'kubernetes.io/config.mirror': 'abc' } }

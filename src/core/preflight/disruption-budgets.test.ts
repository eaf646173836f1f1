import { describe, expect, it } from 'vitest'
import { answerOf, healthySights, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import { disruptionBudgets } from './disruption-budgets.ts'
import type { BudgetSight } from './sights.ts'

const budget = (part: Partial<BudgetSight>): ViewTraits => {
  const healthy = {
    name: 'shop/web',
    current: true,
    expectedPods: 3,
    desiredHealthy: 2,
    pods: 1,
    example: 'shop/web-1',
  }
  const pods = 'seen' in healthySights.pods ? healthySights.pods.seen : undefined
  return { sights: { pods: pods ? { seen: { ...pods, budgets: [{ ...healthy, ...part }] } } : unseen } }
}
const never = (wants: number, of: number) =>
  `Failed: PodDisruptionBudgets that can never allow an eviction: shop/web (wants ${wants} of ${of} pods healthy, as shop/web-1); add replicas or relax them`

describe('the check DisruptionBudgets', () => {
  it.each<[string, ViewTraits, string]>([
    ['none', {}, 'Passed: 0 budgets can allow evictions'],
    ['one that can', budget({}), 'Passed: 1 budgets can allow evictions'],
    ['one that wants all', budget({ desiredHealthy: 3 }), never(3, 3)],
    ['one that wants more than there are', budget({ desiredHealthy: 5 }), never(5, 3)],
    [
      'one that the cluster cannot reckon',
      budget({ current: false, unreckoned: 'jobs.batch does not implement the scale subresource' }),
      'Failed: PodDisruptionBudgets that the cluster cannot reckon, so that they allow no eviction: shop/web (jobs.batch does not implement the scale subresource); give them minAvailable as a number',
    ],
    ['one for nobody', budget({ expectedPods: 0, desiredHealthy: 0 }), 'Passed: 1 budgets can allow evictions'],
    [
      'one whose status is old',
      budget({ current: false }),
      'Unknown: the status of PodDisruptionBudgets shop/web is not up to date; is the controller running?',
    ],
    [
      'one that wants all, and drains delete by force in the end',
      { ...budget({ desiredHealthy: 3 }), spec: { reboot: 'Always', drain: { onTimeout: 'Force' } } },
      `${never(3, 3).replace('Failed', 'Warning')}; drain.onTimeout Force will delete the pods`,
    ],
    ['they cannot be read', { sights: { pods: unseen } }, `Unknown: ${unseen.unseen}`],
    [
      'skipped',
      { ...budget({ desiredHealthy: 3 }), spec: { reboot: 'Always', preflight: { skip: ['DisruptionBudgets'] } } },
      `Skipped: skipped; it would have said ${never(3, 3)}`,
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(disruptionBudgets, traits)).toBe(answer))
})

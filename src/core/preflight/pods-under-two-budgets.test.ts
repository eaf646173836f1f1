import { describe, expect, it } from 'vitest'
import { answerOf, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import { podsUnderTwoBudgets } from './pods-under-two-budgets.ts'
import type { PodSight } from './sights.ts'

const found = (underTwo: PodSight['underTwo']): ViewTraits => ({
  sights: { pods: { seen: { loads: new Map(), budgets: [], underTwo } } },
})

describe('the check PodsUnderTwoBudgets', () => {
  it.each<[string, ViewTraits, string]>([
    ['none', {}, 'Passed: no pod is under two budgets'],
    [
      'some, a few named',
      found({ total: 30, first: [{ pod: 'shop/web-1', budgets: ['shop/a', 'shop/b'] }] }),
      'Failed: the API server evicts no pod under two PodDisruptionBudgets: shop/web-1 (shop/a and shop/b) and 29 more; remove one of them',
    ],
    ['they cannot be read', { sights: { pods: unseen } }, `Unknown: ${unseen.unseen}`],
  ])('%s', (_name, traits, answer) => expect(answerOf(podsUnderTwoBudgets, traits)).toBe(answer))
})

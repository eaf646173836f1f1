import { describe, expect, it } from 'vitest'
import type { PodDisruptionBudget } from '../../api/kube.ts'
import { type PodBlockView, podBlocker } from './blocker.ts'

const budget = (desiredHealthy: number): PodDisruptionBudget => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'b', resourceVersion: '1', creationTimestamp: '' },
  spec: {},
  status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy, expectedPods: 2 },
})

const view = (part: Partial<PodBlockView>): PodBlockView => ({
  ...{ node: 'w1', pod: 'shop/web-1', code: 'PodDisruptionBudget', message: '', workload: 'Deployment shop/web' },
  ...{ budgets: [budget(1)], fitsElsewhere: true },
  ...part,
})

describe('what keeps a pod', () => {
  it.each([
    { name: 'a budget', part: {}, key: 'PodDisruptionBudget PodDisruptionBudget shop/web', lasting: false },
    {
      name: 'its turn for a budget',
      part: { code: 'PodWaitsItsTurn' },
      key: 'PodDisruptionBudget PodDisruptionBudget shop/web',
      lasting: false,
    },
    {
      name: 'a budget that wants all',
      part: { budgets: [budget(2)] },
      key: 'PodDisruptionBudget PodDisruptionBudget shop/web',
      lasting: true,
    },
    {
      name: 'a budget, and no other node',
      part: { fitsElsewhere: false },
      key: 'PodDisruptionBudget PodDisruptionBudget shop/web',
      lasting: true,
    },
    {
      name: 'a rule that lets it run, though it never ends',
      part: { code: 'PodCompleting' },
      key: 'PodCompleting Deployment shop/web',
      lasting: true,
    },
    {
      name: 'a rule that lets its job end',
      part: { code: 'PodCompleting', workload: 'Job shop/batch' },
      key: 'PodCompleting Job shop/batch',
      lasting: false,
    },
    {
      name: 'that nothing would make it again',
      part: { code: 'PodUnmanaged', workload: undefined },
      key: 'PodUnmanaged Pod shop/web-1',
      lasting: true,
    },
  ])('$name', ({ part, key, lasting }) => {
    expect(podBlocker(view(part))).toMatchObject({ key, lasting, node: 'w1' })
  })
})

import { expect, it } from 'vitest'
import { KubeError } from '../../api/kube-error.ts'
import { judgeRefusal } from './judge-refusal.ts'

const overBudget = (retryAfterMs: number, message?: string) =>
  new KubeError('TooManyRequests', 'Cannot evict pod.', {
    retryAfterMs,
    causes: [{ reason: 'DisruptionBudget', ...(message !== undefined && { message }) }],
  })

it.each<[string, KubeError, string, string, number]>([
  ['a budget', overBudget(0), 'PodDisruptionBudget', 'shop/p: Cannot evict pod.', 1_000],
  [
    'a budget that explains itself',
    overBudget(4_000, 'It needs 2.'),
    'PodDisruptionBudget',
    'shop/p: Cannot evict pod. It needs 2.',
    4_000,
  ],
  ['a budget that wants long patience', overBudget(60_000), 'PodDisruptionBudget', 'shop/p: Cannot evict pod.', 10_000],
  [
    'a webhook with the same status',
    new KubeError('TooManyRequests', 'admission webhook "slow.example" says: later'),
    'PodEvictionRefused',
    'shop/p: admission webhook "slow.example" says: later',
    5_000,
  ],
  [
    'a webhook that forbids it',
    new KubeError('Forbidden', 'admission webhook "no.example" denied the request'),
    'PodEvictionRefused',
    'shop/p: admission webhook "no.example" denied the request',
    5_000,
  ],
  [
    'two budgets',
    new KubeError('ServerError', 'This pod has more than one PodDisruptionBudget, which'),
    'PodUnderTwoBudgets',
    'shop/p: This pod has more than one PodDisruptionBudget, which',
    5_000,
  ],
  [
    'a server in trouble',
    new KubeError('ServerError', 'etcd is slow'),
    'PodEvictionRefused',
    'shop/p: etcd is slow',
    5_000,
  ],
])('%s is told as what it is', (_name, error, code, message, afterMs) => {
  expect(judgeRefusal('shop/p', error)).toEqual({ reason: { code, message }, afterMs })
})

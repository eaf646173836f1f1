import { describe, expect, it } from 'vitest'
import { metadata, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { Condition, Pod, PodDisruptionBudget } from '../../api/kube.ts'
import { budgetKeeper, budgetState } from './budget-text.ts'
import { workloadOf } from './workload-of.ts'

const budget = (allowed: number, healthy: number, desired: number, expected: number): PodDisruptionBudget => ({
  metadata: metadata('web', { namespace: 'shop' }),
  spec: {},
  status: { disruptionsAllowed: allowed, currentHealthy: healthy, desiredHealthy: desired, expectedPods: expected },
})
const since = '2026-01-01T12:03:00Z'

interface Traits {
  readonly node?: string
  readonly phase?: 'Pending' | 'Running' | 'Succeeded'
  readonly conditions?: readonly Condition[]
  readonly going?: boolean
}
const pod = (name: string, { node, phase = 'Running', conditions, going }: Traits = {}): Pod => {
  const sample = samplePod(name, { phase, ...(going && { deletingSince: since }) })
  return {
    ...sample,
    spec: { ...sample.spec, ...(node !== undefined && { nodeName: node }) },
    status: { ...sample.status, ...(conditions && { conditions }) },
  }
}
const well = (name: string) => pod(name, { node: 'w1', conditions: [{ type: 'Ready', status: 'True' }] })
const sick = pod('sick', { node: 'w2', conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: since }] })
const pending = pod('new', { node: 'w4', phase: 'Pending', conditions: [] })
const homeless = pod('homeless', {
  phase: 'Pending',
  conditions: [
    { type: 'PodScheduled', status: 'False', lastTransitionTime: since, message: '0/3 nodes are available' },
  ],
})
const going = pod('old', { node: 'w3', going: true })
/** As the disruption controller says it of pods that a Job owns; the numbers are those of before. */
const unreckonable: PodDisruptionBudget = {
  ...budget(0, 2, 1, 2),
  status: {
    ...{ disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: 'jobs.batch does not implement the scale subresource',
      },
    ],
  },
}

describe('who keeps a budget from allowing', () => {
  it.each<[string, PodDisruptionBudget, readonly Pod[], string | undefined]>([
    ['nobody', budget(0, 2, 1, 2), [well('a'), well('b')], undefined],
    ['one that is not Ready', budget(0, 1, 1, 2), [well('a'), sick], `pod shop/sick is not Ready on w2 since ${since}`],
    [
      'one that has not started',
      budget(0, 1, 1, 2),
      [well('a'), pending],
      'pod shop/new is Pending on w4 since 2026-01-01T00:00:00Z',
    ],
    [
      'one that fits nowhere, with the scheduler’s words',
      budget(0, 1, 1, 2),
      [homeless, well('a')],
      `pod shop/homeless is Pending on no node since ${since}: 0/3 nodes are available`,
    ],
    ['one that is going', budget(0, 1, 1, 2), [well('a'), going], `pod shop/old is shutting down on w3 since ${since}`],
    [
      'the worst of them first',
      budget(0, 0, 1, 4),
      [going, sick, pending, homeless],
      `pod shop/homeless is Pending on no node since ${since}: 0/3 nodes are available`,
    ],
    [
      'ended pods are none of them',
      budget(0, 1, 1, 1),
      [pod('done', { phase: 'Succeeded' }), well('a')],
      'it wants all of its 1 pods, so that it never allows one to go; add a replica or lower what it wants',
    ],
    [
      'nobody, where the cluster cannot reckon it',
      unreckonable,
      [well('a'), sick],
      'the cluster cannot reckon it (jobs.batch does not implement the scale subresource); give it minAvailable as a number',
    ],
    ['pods that do not exist', budget(0, 1, 1, 3), [well('a')], 'only 1 of its 3 pods exist'],
  ])('%s', (_name, of, pods, expected) => {
    expect(budgetKeeper(of, pods)).toBe(expected)
  })

  it('says what the budget says', () => {
    expect(budgetState(budget(1, 3, 2, 3))).toBe(
      'PodDisruptionBudget shop/web (1 disruptions allowed; 3 of 2 needed pods are healthy)',
    )
  })
})

describe('the workload of a pod', () => {
  const owned = (kind: string, name: string, hash?: string): Pod => ({
    ...samplePod('p'),
    metadata: metadata('p', {
      namespace: 'shop',
      ...(hash !== undefined && { labels: { 'pod-template-hash': hash } }),
      ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: 'u', controller: true }],
    }),
  })
  it.each<[string, Pod, string | undefined]>([
    [
      'a Deployment, through its ReplicaSet',
      owned('ReplicaSet', 'check-out-7f9c4', '7f9c4'),
      'Deployment shop/check-out',
    ],
    ['a ReplicaSet of its own', owned('ReplicaSet', 'plain'), 'ReplicaSet shop/plain'],
    [
      'a ReplicaSet whose name only looks like one',
      owned('ReplicaSet', 'plain-7f9c4', 'other'),
      'ReplicaSet shop/plain-7f9c4',
    ],
    ['a StatefulSet', owned('StatefulSet', 'db'), 'StatefulSet shop/db'],
    ['none', samplePod('p', { controller: null }), undefined],
  ])('%s', (_name, of, expected) => {
    expect(workloadOf(of)).toBe(expected)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PodTraits, samplePod } from '../../../test/samples/cluster-objects.ts'
import {
  blocked,
  charged,
  data,
  evicting,
  inSeconds,
  mirror,
  noStatus,
  pdb,
  said,
  short,
  spent,
  viewOf,
} from '../../../test/samples/pod-views.ts'
import type { DrainSettings } from '../../api/drain-settings.ts'
import type { PodDisruptionBudget } from '../../api/kube.ts'
import { drainOf } from './drain-policy.ts'
import { judgePod, type PodView } from './judge-pod.ts'

const cordonToleration = {
  key: 'node.kubernetes.io/unschedulable',
  operator: 'Exists',
  effect: 'NoSchedule',
} as const

interface Case {
  readonly name: string
  readonly pod?: PodTraits
  readonly budgets?: readonly PodDisruptionBudget[]
  readonly operator?: PodView['operator']
  readonly settings?: DrainSettings
  /** action[ state] code[ budget]: message */
  readonly judged: string
}

describe('the drain ladder', () => {
  it.each<Case>([
    // what stays
    {
      name: 'a static pod stays',
      pod: { ...mirror, controller: 'Node' },
      judged: 'skip PodMirror: shop/p is a static pod',
    },
    {
      name: 'a DaemonSet pod stays',
      pod: { controller: 'DaemonSet' },
      judged: 'skip PodOfDaemonSet: shop/p belongs to a DaemonSet',
    },
    {
      name: 'a DaemonSet pod that shuts down is not waited for',
      pod: { controller: 'DaemonSet', deletingSince: '2026-01-01T00:00:00Z' },
      judged: 'skip PodOfDaemonSet: shop/p belongs to a DaemonSet',
    },
    {
      name: 'the operator stays where nobody can take it',
      operator: 'stays',
      judged: 'skip PodOfOperator: shop/p is the operator and no other node can take it',
    },
    { name: 'the operator moves like any pod', operator: 'moves', judged: evicting },
    {
      name: 'what came back in spite of the cordon stays',
      pod: { createdAt: '2026-01-01T12:00:00Z', spec: { tolerations: [{ operator: 'Exists' }] } },
      judged: 'skip PodReturned: shop/p came back in spite of the cordon, which it tolerates; it stays',
    },
    {
      name: 'so does the operator',
      pod: { createdAt: '2026-01-01T12:00:00Z', spec: { tolerations: [cordonToleration] } },
      operator: 'moves',
      judged: 'skip PodReturned: shop/p came back in spite of the cordon, which it tolerates; it stays',
    },
    {
      name: 'what would come back is asked to go once',
      pod: { createdAt: '2026-01-01T11:59:59Z', spec: { tolerations: [cordonToleration] } },
      judged: evicting,
    },
    {
      name: 'what was made just before the cordon and does not tolerate it goes, whatever its clock says',
      pod: {
        createdAt: '2026-01-01T12:00:00Z',
        spec: { tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }] },
      },
      judged: evicting,
    },
    { name: 'a succeeded pod stays', pod: { phase: 'Succeeded' }, judged: 'skip PodFinished: shop/p has ended' },
    { name: 'a failed pod stays', pod: { phase: 'Failed' }, judged: 'skip PodFinished: shop/p has ended' },
    {
      name: 'an ended pod without a controller stays',
      pod: { phase: 'Succeeded', controller: null },
      judged: 'skip PodFinished: shop/p has ended',
    },
    // what is waited for
    {
      name: 'a pod without a controller is protected',
      pod: { controller: null },
      judged: 'wait Blocked PodUnmanaged: shop/p has no controller that would make it again',
    },
    {
      name: 'unless the policy gives it up',
      pod: { controller: null },
      settings: { unmanagedPods: 'Delete' },
      judged: evicting,
    },
    { name: 'emptyDir is given up as the policy says', pod: data, judged: evicting },
    {
      name: 'or protected',
      pod: data,
      settings: { emptyDir: 'Block' },
      judged: 'wait Blocked PodKeepsData: shop/p keeps data in an emptyDir',
    },
    {
      name: 'other volumes are no data to protect',
      pod: { spec: { volumes: [{ name: 'claim', persistentVolumeClaim: { claimName: 'c' } }] } },
      settings: { emptyDir: 'Block' },
      judged: evicting,
    },
    // budgets
    { name: 'no budget', judged: evicting },
    { name: 'a budget with room is charged', budgets: [pdb('web', { allowed: 1 })], judged: charged('web') },
    { name: 'a spent budget', budgets: [pdb('web')], judged: spent },
    {
      name: 'a budget without status',
      budgets: [noStatus],
      judged: blocked('new (0 disruptions allowed; no status yet)'),
    },
    {
      name: 'two budgets',
      budgets: [pdb('web', { allowed: 1 }), pdb('all', { allowed: 1 })],
      judged:
        'wait Blocked PodUnderTwoBudgets: shop/p is selected by PodDisruptionBudget shop/web and PodDisruptionBudget shop/all; the API server evicts no such pod',
    },
    // what the API server evicts whatever the budget says
    {
      name: 'a pod that has not started',
      pod: { phase: 'Pending', ready: false },
      budgets: [pdb('web')],
      judged: evicting,
    },
    {
      name: 'a pod that has not started, under two budgets',
      pod: { phase: 'Pending', ready: false },
      budgets: [pdb('web'), pdb('all')],
      judged: evicting,
    },
    { name: 'a sick pod, enough others healthy', pod: { ready: false }, budgets: [pdb('web')], judged: evicting },
    {
      name: 'a sick pod, too few healthy',
      pod: { ready: false },
      budgets: [pdb('web', { healthy: 1 })],
      judged: short,
    },
    {
      name: 'a sick pod, IfHealthyBudget said',
      pod: { ready: false },
      budgets: [pdb('web', { healthy: 1, unhealthy: 'IfHealthyBudget' })],
      judged: short,
    },
    {
      name: 'a sick pod, AlwaysAllow',
      pod: { ready: false },
      budgets: [pdb('web', { healthy: 1, unhealthy: 'AlwaysAllow' })],
      judged: evicting,
    },
    { name: 'a healthy pod, AlwaysAllow', budgets: [pdb('web', { unhealthy: 'AlwaysAllow' })], judged: spent },
    {
      name: 'a sick pod where nothing is needed: the budget decides',
      pod: { ready: false },
      budgets: [pdb('web', { healthy: 0, desired: 0 })],
      judged: blocked('web (0 disruptions allowed; 0 of 0 needed pods are healthy)'),
    },
    {
      name: 'a sick pod, budget without status',
      pod: { ready: false },
      budgets: [noStatus],
      judged: blocked('new (0 disruptions allowed; no status yet)'),
    },
  ])('$name', ({ pod, budgets = [], operator, settings, judged }) => {
    expect(said(judgePod(viewOf(pod, { budgets, operator }), drainOf(settings)))).toBe(judged)
  })

  it('a pod with an owner that is no controller is unmanaged', () => {
    const pod = samplePod('p', { controller: null })
    const owned = {
      ...pod,
      metadata: { ...pod.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'DaemonSet', name: 'd', uid: 'u' }] },
    }
    expect(judgePod({ ...viewOf(), pod: owned }, drainOf()).reason.code).toBe('PodUnmanaged')
  })

  it('never spends more of a budget than it allows', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.array(fc.boolean(), { maxLength: 12 }), (allowed, pods) => {
        let spentSoFar = 0
        for (const ready of pods) {
          const budgets = [pdb('web', { allowed, healthy: 1 })]
          const allowance = () => ({ left: allowed - spentSoFar })
          const judgement = judgePod(viewOf({ ready }, { budgets, allowance }), drainOf())
          if (judgement.action !== 'evict') continue
          expect(judgement.budgetUID).toBe('uid-web')
          spentSoFar++
        }
        expect(spentSoFar).toBe(Math.min(allowed, pods.length))
      }),
    )
  })
})

describe('the next rung', () => {
  const budgets = [pdb('web')]

  it('names the workload and the pod that keeps the budget, and when it is late', () => {
    const keeper = () => 'pod shop/q is Pending on w4 since 12:03'
    const judgement = judgePod(viewOf({}, { budgets, keeper }), drainOf())
    expect(judgement.reason.message).toBe(
      'shop/p of ReplicaSet shop/owner waits for PodDisruptionBudget shop/web (0 disruptions allowed; 2 of 2 needed pods are healthy): pod shop/q is Pending on w4 since 12:03',
    )
    expect(inSeconds(judgement)).toBe(600)
  })

  it('waits its turn behind a node that was taken earlier', () => {
    const allowance = () => ({ left: 0, before: 'w7' })
    expect(said(judgePod(viewOf({}, { budgets, allowance }), drainOf()))).toBe(
      'wait Blocked PodWaitsItsTurn: shop/p waits its turn for PodDisruptionBudget shop/web: w7 was taken earlier and goes first',
    )
  })

  it('quotes a refusal until it is time to ask again', () => {
    const refusal = { code: 'PodEvictionRefused', message: 'shop/p: admission webhook "x" denied' } as const
    expect(said(judgePod(viewOf({}, { refusal }), drainOf()))).toBe(
      'wait Blocked PodEvictionRefused: shop/p: admission webhook "x" denied',
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metadata, type PodTraits, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { PodDisruptionBudget } from '../../api/kube.ts'
import { budgetState, type DrainPolicy, judgePod, type PodView, podName } from './judge-pod.ts'

interface BudgetTraits {
  readonly allowed?: number
  readonly healthy?: number
  readonly desired?: number
  readonly unhealthy?: 'IfHealthyBudget' | 'AlwaysAllow'
}

const pdb = (
  name: string,
  { allowed = 0, healthy = 2, desired = 2, unhealthy }: BudgetTraits = {},
): PodDisruptionBudget => ({
  metadata: metadata(name, { namespace: 'shop' }),
  spec: { ...(unhealthy && { unhealthyPodEvictionPolicy: unhealthy }) },
  status: { disruptionsAllowed: allowed, currentHealthy: healthy, desiredHealthy: desired, expectedPods: 3 },
})
const noStatus: PodDisruptionBudget = { metadata: metadata('new', { namespace: 'shop' }), spec: {} }

const usual: DrainPolicy = { unmanagedPods: 'Block', emptyDir: 'Delete' }
const data = {
  spec: {
    volumes: [
      { name: 'config', configMap: {} },
      { name: 'data', emptyDir: {} },
    ],
  },
}

interface Case {
  readonly name: string
  readonly pod?: PodTraits
  readonly budgets?: readonly PodDisruptionBudget[]
  readonly reserved?: number
  readonly operator?: PodView['operator']
  readonly policy?: Partial<DrainPolicy>
  /** action code[ budget]: message */
  readonly judged: string
}

const evicting = 'evict PodEvicting: evicting shop/p'
const charged = (budget: string) => `evict PodEvicting uid-${budget}: evicting shop/p`
const blocked = (state: string) => `wait PodDisruptionBudget: shop/p waits for PodDisruptionBudget shop/${state}`
const spent = blocked('web (0 disruptions allowed; 2 of 2 needed pods are healthy)')
const short = blocked('web (0 disruptions allowed; 1 of 2 needed pods are healthy)')
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'abc' } }

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
    { name: 'a succeeded pod stays', pod: { phase: 'Succeeded' }, judged: 'skip PodFinished: shop/p has ended' },
    { name: 'a failed pod stays', pod: { phase: 'Failed' }, judged: 'skip PodFinished: shop/p has ended' },
    {
      name: 'an ended pod without a controller stays',
      pod: { phase: 'Succeeded', controller: null },
      judged: 'skip PodFinished: shop/p has ended',
    },
    // what is waited for
    {
      name: 'a pod that shuts down is waited for, not asked again',
      pod: { deletingSince: '2026-01-01T12:03:00Z' },
      budgets: [pdb('web', { allowed: 1 })],
      judged: 'wait PodTerminating: shop/p is shutting down since 2026-01-01T12:03:00Z',
    },
    {
      name: 'also when it has ended',
      pod: { deletingSince: '2026-01-01T12:03:00Z', phase: 'Succeeded' },
      judged: 'wait PodTerminating: shop/p is shutting down since 2026-01-01T12:03:00Z',
    },
    {
      name: 'a pod without a controller is protected',
      pod: { controller: null },
      judged: 'wait PodUnmanaged: shop/p has no controller that would make it again',
    },
    {
      name: 'unless the policy gives it up',
      pod: { controller: null },
      policy: { unmanagedPods: 'Delete' },
      judged: evicting,
    },
    { name: 'emptyDir is given up as the policy says', pod: data, judged: evicting },
    {
      name: 'or protected',
      pod: data,
      policy: { emptyDir: 'Block' },
      judged: 'wait PodKeepsData: shop/p keeps data in an emptyDir',
    },
    {
      name: 'other volumes are no data to protect',
      pod: { spec: { volumes: [{ name: 'claim', persistentVolumeClaim: { claimName: 'c' } }] } },
      policy: { emptyDir: 'Block' },
      judged: evicting,
    },
    // budgets
    { name: 'no budget', judged: evicting },
    { name: 'a budget with room is charged', budgets: [pdb('web', { allowed: 1 })], judged: charged('web') },
    { name: 'a spent budget', budgets: [pdb('web')], judged: spent },
    {
      name: 'what we asked for already is taken off',
      budgets: [pdb('web', { allowed: 2 })],
      reserved: 2,
      judged: blocked('web (2 disruptions allowed; 2 of 2 needed pods are healthy)'),
    },
    { name: 'what remains is used', budgets: [pdb('web', { allowed: 2 })], reserved: 1, judged: charged('web') },
    {
      name: 'a budget without status',
      budgets: [noStatus],
      judged: blocked('new (0 disruptions allowed; no status yet)'),
    },
    {
      name: 'two budgets',
      budgets: [pdb('web', { allowed: 1 }), pdb('all', { allowed: 1 })],
      judged:
        'wait PodUnderTwoBudgets: shop/p is selected by PodDisruptionBudget shop/web and PodDisruptionBudget shop/all; the API server evicts no such pod',
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
  ])('$name', ({ pod, budgets = [], reserved = 0, operator, policy, judged }) => {
    const view: PodView = { pod: samplePod('p', pod), budgets, reserved: () => reserved, operator }
    const judgement = judgePod(view, { ...usual, ...policy })
    const budget = judgement.action === 'evict' && judgement.budgetUID ? ` ${judgement.budgetUID}` : ''
    expect(`${judgement.action} ${judgement.reason.code}${budget}: ${judgement.reason.message}`).toBe(judged)
  })

  it('asks the reservations of the very budget', () => {
    const view = (budget: string): PodView => ({
      pod: samplePod('p'),
      budgets: [pdb(budget, { allowed: 1 })],
      reserved: (uid) => (uid === 'uid-web' ? 1 : 0),
    })
    expect(judgePod(view('web'), usual).action).toBe('wait')
    expect(judgePod(view('other'), usual).action).toBe('evict')
  })

  it('a pod with an owner that is no controller is unmanaged', () => {
    const pod = samplePod('p', { controller: null })
    const owned = {
      ...pod,
      metadata: { ...pod.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'DaemonSet', name: 'd', uid: 'u' }] },
    }
    expect(judgePod({ pod: owned, budgets: [], reserved: () => 0 }, usual).reason.code).toBe('PodUnmanaged')
  })

  it('never spends more of a budget than it allows', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.array(fc.boolean(), { maxLength: 12 }), (allowed, pods) => {
        const reservations = new Map<string, number>()
        const budget = pdb('web', { allowed, healthy: 1 })
        for (const ready of pods) {
          const view = {
            pod: samplePod('p', { ready }),
            budgets: [budget],
            reserved: (uid: string) => reservations.get(uid) ?? 0,
          }
          const judgement = judgePod(view, usual)
          if (judgement.action !== 'evict') continue
          expect(judgement.budgetUID).toBe('uid-web')
          reservations.set('uid-web', (reservations.get('uid-web') ?? 0) + 1)
        }
        expect(reservations.get('uid-web') ?? 0).toBe(Math.min(allowed, pods.length))
      }),
    )
  })

  it('names pods and budgets as people write them', () => {
    expect(podName(samplePod('p'))).toBe('shop/p')
    expect(budgetState(pdb('web', { allowed: 1, healthy: 3 }))).toBe(
      'PodDisruptionBudget shop/web (1 disruptions allowed; 3 of 2 needed pods are healthy)',
    )
  })
})

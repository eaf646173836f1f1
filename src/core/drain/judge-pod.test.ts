import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metadata, type PodTraits, samplePod } from '../../../test/samples/cluster-objects.ts'
import type { DrainSettings } from '../../api/drain-settings.ts'
import type { PodDisruptionBudget } from '../../api/kube.ts'
import { drainOf } from './drain-policy.ts'
import { judgePod, type PodJudgement, type PodView } from './judge-pod.ts'

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

const noon = Date.parse('2026-01-01T12:00:00Z')
const at = (seconds: number) => noon + seconds * 1000
const instant = (seconds: number) => `${new Date(at(seconds)).toISOString().slice(0, 19)}Z`

/** A pod of w1, which is being drained since noon and late after ten minutes. */
const viewOf = (pod: PodTraits = {}, part: Partial<PodView> & { readonly now?: number } = {}): PodView => {
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
const said = (judgement: PodJudgement) => {
  const state = 'state' in judgement ? ` ${judgement.state}` : ''
  const budget = judgement.action === 'evict' && judgement.budgetUID ? ` ${judgement.budgetUID}` : ''
  const grace = 'graceSeconds' in judgement ? ` grace ${judgement.graceSeconds}` : ''
  const { code, message } = judgement.reason
  return `${judgement.action}${state} ${code}${budget}${grace}: ${message}`
}
const inSeconds = (judgement: PodJudgement) =>
  'nextMs' in judgement && judgement.nextMs !== undefined ? (judgement.nextMs - noon) / 1000 : undefined

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
  readonly operator?: PodView['operator']
  readonly settings?: DrainSettings
  /** action[ state] code[ budget]: message */
  readonly judged: string
}

const evicting = 'evict PodEvicting: evicting shop/p'
const charged = (budget: string) => `evict PodEvicting uid-${budget}: evicting shop/p`
const blocked = (state: string) =>
  `wait Blocked PodDisruptionBudget: shop/p of ReplicaSet shop/owner waits for PodDisruptionBudget shop/${state}`
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

describe('rules', () => {
  const owner = { name: 'owner', uid: 'uid-owner' }
  const rules = (action: 'Skip' | 'WaitForCompletion' | 'Evict' | 'Force', part: object = {}): DrainSettings => ({
    rules: [{ namespaces: ['shop'], action, ...part }],
  })
  const judged = (settings: DrainSettings, pod: PodTraits = {}, part: Parameters<typeof viewOf>[1] = {}) =>
    judgePod(viewOf(pod, part), drainOf(settings))
  const waits = 'wait Completing PodCompleting: shop/p may run to its end'

  it.each<[string, DrainSettings, PodTraits, number, string]>([
    ['Skip leaves it', rules('Skip'), {}, 1, 'skip PodSkipped: shop/p stays, as a drain rule says'],
    [
      'Skip also if it is going',
      rules('Skip'),
      { deletingSince: instant(-500) },
      1,
      'skip PodSkipped: shop/p stays, as a drain rule says',
    ],
    ['a rule of another namespace', { rules: [{ namespaces: ['bank'], action: 'Skip' }] }, {}, 1, evicting],
    ['WaitForCompletion lets it run', rules('WaitForCompletion'), {}, 599, `${waits}, as a drain rule says`],
    [
      'for as long as it says',
      rules('WaitForCompletion', { timeout: '2h' }),
      {},
      7199,
      `${waits}, for 2h at most, as a drain rule says`,
    ],
    ['and not longer', rules('WaitForCompletion', { timeout: '2h' }), {}, 7200, evicting],
    ['it has ended', rules('WaitForCompletion'), { phase: 'Succeeded' }, 5, 'skip PodFinished: shop/p has ended'],
    ['Evict takes also what nothing makes again', rules('Evict'), { controller: null }, 1, evicting],
    ['and what keeps data', { emptyDir: 'Block', ...rules('Evict') }, data, 1, evicting],
    [
      'a wait that is over takes neither',
      rules('WaitForCompletion', { timeout: '1m' }),
      { controller: null },
      60,
      'wait Blocked PodUnmanaged: shop/p has no controller that would make it again',
    ],
    ['grace of the rule', rules('Evict', { gracePeriod: '90s' }), {}, 1, 'evict PodEvicting grace 90: evicting shop/p'],
    ['grace for all', { podGracePeriod: '5m' }, {}, 1, 'evict PodEvicting grace 300: evicting shop/p'],
    [
      'the rule has the last word on it',
      { podGracePeriod: '5m', ...rules('Evict', { gracePeriod: '1s' }) },
      {},
      1,
      'evict PodEvicting grace 1: evicting shop/p',
    ],
    [
      'no rule moves a DaemonSet pod',
      rules('Force'),
      { controller: 'DaemonSet' },
      1,
      'skip PodOfDaemonSet: shop/p belongs to a DaemonSet',
    ],
  ])('%s', (_name, settings, pod, now, expected) => {
    expect(said(judged(settings, pod, { now }))).toBe(expected)
  })

  it('tells when a wait for completion ends', () => {
    expect(inSeconds(judged(rules('WaitForCompletion', { timeout: '2m' })))).toBe(120)
    expect(inSeconds(judged(rules('WaitForCompletion')))).toBe(600)
  })

  it('the first that matches counts, an update’s before the policy’s', () => {
    const labelled = {
      ...samplePod('p'),
      metadata: metadata('p', {
        namespace: 'shop',
        labels: { app: 'db' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', controller: true, ...owner }],
      }),
    }
    const policy: DrainSettings = { rules: [{ action: 'Skip' }] }
    const update: DrainSettings = { rules: [{ selector: { matchLabels: { app: 'db' } }, action: 'WaitForCompletion' }] }
    expect(judgePod({ ...viewOf(), pod: labelled }, drainOf(policy, update)).reason.code).toBe('PodCompleting')
    expect(judgePod(viewOf(), drainOf(policy, update)).reason.code).toBe('PodSkipped')
    expect(judgePod({ ...viewOf(), pod: labelled }, drainOf(update, policy)).reason.code).toBe('PodSkipped')
  })
})

describe('force', () => {
  const budgets = [pdb('web')]
  const onTimeout: DrainSettings = { onTimeout: 'Force' }
  const byRule: DrainSettings = { rules: [{ action: 'Force', timeout: '3m' }] }
  const inSpite = `PodForced: shop/p is deleted in spite of this: ${spent.slice('wait Blocked PodDisruptionBudget: '.length)}`
  const judged = (settings: DrainSettings, now: number, part: Partial<PodView> = {}, pod: PodTraits = {}) =>
    judgePod(viewOf(pod, { budgets, now, ...part }), drainOf(settings))

  it.each<[string, DrainSettings, number, string]>([
    ['never, if nothing says so', {}, 100_000, spent],
    ['not on Abort', { onTimeout: 'Abort' }, 100_000, spent],
    ['not before the time is up', onTimeout, 599, spent],
    ['then it is told', onTimeout, 600, `wait Forced ${inSpite}`],
    ['a rule has its own time', byRule, 179, spent],
    ['and is told as well', byRule, 180, `wait Forced ${inSpite}`],
    ['a rule without one has five minutes', { rules: [{ action: 'Force' }] }, 299, spent],
    ['which end', { rules: [{ action: 'Force' }] }, 300, `wait Forced ${inSpite}`],
    [
      'the earlier of the two counts',
      { onTimeout: 'Force', rules: [{ action: 'Force', timeout: '1h' }] },
      600,
      `wait Forced ${inSpite}`,
    ],
  ])('%s', (_name, settings, now, expected) => {
    expect(said(judged(settings, now))).toBe(expected)
  })

  it('is done when it stands in the NodeState, with the grace of the pod or of the settings', () => {
    const recorded = { recorded: 'PodForced' } as const
    expect(said(judged(onTimeout, 600, recorded))).toBe(`force Forced ${inSpite}`)
    const forced = judged({ ...onTimeout, podGracePeriod: '7s' }, 600, recorded)
    expect(forced).toMatchObject({ action: 'force', graceSeconds: 7 })
  })

  it('is not done in the first minute of a new leader', () => {
    const times = { nowMs: at(700), sinceMs: noon, deadlineMs: at(600), graceUntilMs: at(720) }
    expect(judged(onTimeout, 700, { times, recorded: 'PodForced' })).toMatchObject({ action: 'wait', nextMs: at(720) })
  })

  it('is not done where an eviction would do', () => {
    expect(judged(onTimeout, 600, { budgets: [pdb('web', { allowed: 1 })] }).action).toBe('evict')
  })

  it('beats two budgets, a refusal and a wait for completion', () => {
    expect(judged(onTimeout, 600, { budgets: [pdb('web'), pdb('all')] })).toMatchObject({ state: 'Forced' })
    const refusal = { code: 'PodEvictionRefused', message: 'denied' } as const
    expect(judged(onTimeout, 600, { budgets: [], refusal })).toMatchObject({ state: 'Forced' })
    const waiting: DrainSettings = { ...onTimeout, rules: [{ action: 'WaitForCompletion' }] }
    expect(judged(waiting, 599)).toMatchObject({ state: 'Completing' })
    expect(judged(waiting, 600)).toMatchObject({ state: 'Forced' })
  })

  it('does not beat what only its owner may give up, unless a rule names the pod', () => {
    expect(judged(onTimeout, 600, {}, { controller: null })).toMatchObject({ reason: { code: 'PodUnmanaged' } })
    expect(judged({ ...onTimeout, emptyDir: 'Block' }, 600, {}, data)).toMatchObject({
      reason: { code: 'PodKeepsData' },
    })
    expect(judged(byRule, 600, {}, { controller: null })).toMatchObject({ state: 'Forced' })
  })
})

describe('a pod that was told to go', () => {
  const going = (
    part: Parameters<typeof viewOf>[1] & {
      readonly settings?: DrainSettings
      readonly finalizers?: readonly string[]
      readonly grace?: number
    } = {},
  ) => {
    const { settings, finalizers, grace = 30, ...rest } = part
    const view = viewOf({ deletingSince: instant(100) }, rest)
    const pod = {
      ...view.pod,
      metadata: { ...view.pod.metadata, deletionGracePeriodSeconds: grace, ...(finalizers && { finalizers }) },
    }
    return judgePod({ ...view, pod }, drainOf(settings))
  }
  const force: DrainSettings = { onTimeout: 'Force' }

  it('is left alone for its grace period and a little longer', () => {
    expect(said(going({ now: 129, budgets: [pdb('web', { allowed: 1 })] }))).toBe(
      `leave PodTerminating: shop/p is shutting down since ${instant(100)}`,
    )
    expect(inSeconds(going({ now: 50 }))).toBe(130)
  })

  it('also when it has ended', () => {
    const view = viewOf({ deletingSince: instant(100), phase: 'Succeeded' }, { now: 50 })
    expect(judgePod(view, drainOf()).action).toBe('leave')
  })

  it('is then told of', () => {
    expect(said(going({ now: 130 }))).toBe(
      `wait Terminating PodTerminating: shop/p is shutting down and should have gone by ${instant(100)}`,
    )
  })

  it('names the node where that is the cause', () => {
    expect(said(going({ now: 130, node: { name: 'w1', ready: false } }))).toBe(
      `wait Terminating PodStuck: shop/p should have gone by ${instant(100)}, but w1 is not Ready`,
    )
  })

  it('names the finalizers that keep it, and forces none', () => {
    const kept = { now: 900, finalizers: ['example.com/a', 'example.com/b'], grace: 0, settings: force }
    expect(said(going(kept))).toBe(
      `wait Terminating PodFinalizers: shop/p has ended, and is kept by example.com/a, example.com/b since ${instant(100)}`,
    )
    expect(going({ ...kept, grace: 30 })).toMatchObject({ state: 'Forced' })
  })

  it('is removed with no grace only where the settings say so, and told first', () => {
    expect(going({ now: 599, settings: force })).toMatchObject({ state: 'Terminating', nextMs: at(600) })
    const removal = `PodRemoved grace 0: shop/p has not ended within its grace period, which was over at ${instant(100)}, and is removed`
    expect(going({ now: 600, settings: force })).toMatchObject({
      action: 'wait',
      state: 'Forced',
      reason: { code: 'PodRemoved' },
    })
    expect(going({ now: 600, settings: force, recorded: 'PodForced' })).toMatchObject({ action: 'wait' })
    expect(said(going({ now: 600, settings: force, recorded: 'PodRemoved' }))).toBe(`force Forced ${removal}`)
    expect(going({ now: 600 })).toMatchObject({ state: 'Terminating' })
  })
})

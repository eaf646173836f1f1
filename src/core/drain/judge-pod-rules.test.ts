import { describe, expect, it } from 'vitest'
import { metadata, type PodTraits, samplePod } from '../../../test/samples/cluster-objects.ts'
import {
  at,
  data,
  evicting,
  inSeconds,
  instant,
  noon,
  pdb,
  said,
  spent,
  viewOf,
} from '../../../test/samples/pod-views.ts'
import type { DrainSettings } from '../../api/drain-settings.ts'
import { drainOf } from './drain-policy.ts'
import { judgePod, type PodView } from './judge-pod.ts'

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
      `leave PodTerminating: shop/p is shutting down, for which it has until ${instant(100)}`,
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

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { UpdateCondition } from '../../api/direct-update.ts'
import { type Counts, conditionsOf, mergeConditions, type ProgressView, phaseOf, summaryOf } from './progress.ts'

const counts = (part: Partial<Counts> = {}): Counts => ({
  waiting: 0,
  working: 0,
  attention: 0,
  failed: 0,
  done: 0,
  skipped: 0,
  ...part,
})
const view = (part: Partial<Counts> = {}, more: Partial<ProgressView> = {}): ProgressView => ({
  update: 'to-1-36',
  counts: counts(part),
  slots: 0,
  stuckSlots: (part.failed ?? 0) + (part.attention ?? 0),
  stop: undefined,
  waitingFor: undefined,
  desired: 'Running',
  soaking: false,
  broken: [],
  ...more,
})
const stop = { code: 'FailuresReached', message: 'nothing more starts: w1 failed' } as const
const late = { code: 'OperationTimedOut', message: 'it took longer than 1h' } as const
const paused = { desired: 'Paused' } as const
const cancelled = { desired: 'Cancelled' } as const
const hook = { code: 'HookFailed', message: 'hook tell failed: 404' } as const
const staging = { code: 'NodesStaging', message: 'w2 fetches what it needs' } as const
const busy = { code: 'BudgetSpent', message: 'the budget is spent' } as const
const unfit = { code: 'PreflightFailed', message: 'TargetRequirements: w5 has cgroup v1' } as const

describe('the phase of an update', () => {
  it.each<[string, ProgressView, string]>([
    [
      'a check between two steps of its path fails, and is looked at again',
      view({ done: 3 }, { waitingFor: unfit, step: { index: 0, of: 2, version: 'v1.35.6', takesWorkers: false } }),
      'InProgress',
    ],
    ['all done', view({ done: 3 }), 'Succeeded'],
    ['all were there already', view({ skipped: 3 }), 'Succeeded'],
    ['done, a slot not returned yet', view({ done: 3 }, { slots: 1 }), 'InProgress'],
    ['some wait', view({ waiting: 1, done: 2 }), 'InProgress'],
    ['some are under work', view({ working: 1, done: 2 }), 'InProgress'],
    ['one failed, others are under work', view({ working: 1, failed: 1 }, { stop }), 'InProgress'],
    ['one needs a person, others are under work', view({ working: 1, attention: 1 }), 'InProgress'],
    ['one needs a person, others wait', view({ attention: 1, waiting: 5 }, { stop }), 'RequiresAttention'],
    ['one needs a person, one failed', view({ attention: 1, failed: 1 }, { stop }), 'RequiresAttention'],
    ['one needs a person, others go on', view({ attention: 1, waiting: 5 }), 'InProgress'],
    ['one needs a person, others stage', view({ attention: 1, waiting: 5 }, { waitingFor: staging }), 'InProgress'],
    ...(['GateWaiting', 'BackupRunning', 'HookRunning'] as const).map((code): [string, ProgressView, string] => [
      `one needs a person, the next is asked about (${code})`,
      view({ attention: 1, waiting: 5 }, { waitingFor: { code, message: 'not yet' } }),
      'InProgress',
    ]),
    [
      'one needs a person, others have no room',
      view({ attention: 1, waiting: 5 }, { waitingFor: busy }),
      'RequiresAttention',
    ],
    [
      'one needs a person, a slot is on its way back',
      view({ attention: 1, waiting: 5 }, { waitingFor: busy, slots: 2 }),
      'InProgress',
    ],
    ['one needs a person, none waits', view({ attention: 1, done: 5 }), 'RequiresAttention'],
    ['too many failed, others wait', view({ failed: 1, waiting: 5 }, { stop }), 'Failed'],
    ['some failed, as many as may, others wait', view({ failed: 1, waiting: 5 }), 'InProgress'],
    ['some failed, as many as may, none waits', view({ failed: 1, done: 5 }), 'Failed'],
    ['its time is over', view({ waiting: 2, done: 1 }, { stop: late }), 'Failed'],
    ['its time is over, one is under work', view({ waiting: 2, working: 1 }, { stop: late }), 'InProgress'],
    ['its time is over with the last node', view({ done: 3 }, { stop: late }), 'Succeeded'],
    ['the last wave is looked at', view({ done: 3 }, { soaking: true }), 'InProgress'],
    ['paused', view({ waiting: 2, done: 1 }, paused), 'Paused'],
    ['paused, one is finished', view({ waiting: 2, working: 1 }, paused), 'Paused'],
    ['paused, one needs a person', view({ waiting: 2, attention: 1 }, paused), 'RequiresAttention'],
    ['paused, too many failed', view({ waiting: 2, failed: 1 }, { ...paused, stop }), 'Failed'],
    ['paused after the last node', view({ done: 3 }, paused), 'Succeeded'],
    ['cancelled', view({ waiting: 2, done: 1 }, cancelled), 'Cancelled'],
    [
      'cancelled, one failed and keeps its slot',
      view({ waiting: 2, failed: 1 }, { ...cancelled, stop, slots: 1 }),
      'Cancelled',
    ],
    ['cancelled, one is finished', view({ waiting: 2, working: 1 }, { ...cancelled, slots: 1 }), 'InProgress'],
    ['cancelled, a slot is on its way back', view({ waiting: 2, done: 1 }, { ...cancelled, slots: 1 }), 'InProgress'],
    [
      'cancelled, one needs a person',
      view({ waiting: 2, attention: 1 }, { ...cancelled, slots: 1 }),
      'RequiresAttention',
    ],
    [
      'cancelled, one that was never taken needs a person, and a slot is on its way back',
      view({ waiting: 2, attention: 1 }, { ...cancelled, slots: 1, stuckSlots: 0 }),
      'InProgress',
    ],
    ['cancelled after the last node', view({ done: 3 }, cancelled), 'Succeeded'],
    ['cancelled while the last wave is looked at', view({ done: 3 }, { ...cancelled, soaking: true }), 'Cancelled'],
    [
      'cancelled while the last node’s slot is on its way back',
      view({ done: 3 }, { ...cancelled, soaking: true, slots: 1 }),
      'InProgress',
    ],
    [
      'the hosts that are left lack what the target needs',
      view({ waiting: 1, done: 5 }, { waitingFor: unfit }),
      'RequiresAttention',
    ],
    [
      'one such host waits, another has just its slot',
      view({ waiting: 2 }, { waitingFor: unfit, slots: 1 }),
      'InProgress',
    ],
    [
      'one such host waits, others are under work',
      view({ waiting: 1, working: 1 }, { waitingFor: unfit }),
      'InProgress',
    ],
    ['cancelled, and its last hook failed', view({ done: 3 }, { ...cancelled, waitingFor: hook }), 'Cancelled'],
  ])('%s', (_name, given, phase) => {
    expect(phaseOf(given)).toBe(phase)
  })

  it('is never over while a node is under work, needs a person or holds a slot', () => {
    const small = fc.nat(3)
    const desires = fc.constantFrom('Running' as const, 'Paused' as const, 'Cancelled' as const)
    const any = fc.record({
      waiting: small,
      working: small,
      attention: small,
      failed: small,
      done: small,
      skipped: small,
    })
    fc.assert(
      fc.property(any, small, fc.boolean(), desires, (given, slots, stopped, desired) => {
        const phase = phaseOf(view(given, { slots, stop: stopped ? stop : undefined, desired }))
        if (given.working + given.attention > 0) expect(['InProgress', 'Paused', 'RequiresAttention']).toContain(phase)
        if (phase === 'Succeeded') expect(given.waiting + given.failed + slots).toBe(0)
        if (phase === 'Failed') expect(stopped || given.failed > 0).toBe(true)
        if (phase === 'Cancelled') expect(given.waiting).toBeGreaterThan(0)
        const total = Object.values(given).reduce((sum, count) => sum + count, 0)
        const { waiting, failed, done, skipped } = given
        expect(summaryOf(given)).toEqual({
          summary: { total, done, working: given.working + given.attention, waiting, failed, skipped },
          progress: `${done + skipped}/${total}`,
        })
      }),
    )
  })
})

describe('the conditions of an update', () => {
  const told = (given: ProgressView) =>
    conditionsOf(phaseOf(given), given).map(
      ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
    )

  it.each<[string, ProgressView, readonly string[]]>([
    [
      'under work',
      view({ working: 2, waiting: 1, done: 3, skipped: 1 }, { waitingFor: busy }),
      [
        'Progressing=True InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
        'Blocked=False InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
        'Succeeded=False InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
        'Failed=False InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
        'Reconciling=True InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
        'Stalled=False InProgress: 4/7 nodes done, 2 under work; next: the budget is spent',
      ],
    ],
    [
      'held up',
      view({ waiting: 3, done: 1 }, { waitingFor: busy }),
      [
        'Progressing=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Blocked=True BudgetSpent: the budget is spent',
        'Succeeded=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Failed=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Reconciling=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Stalled=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
      ],
    ],
    [
      'between two nodes, the slot on its way back',
      view({ waiting: 3, done: 1 }, { waitingFor: busy, slots: 1 }),
      [
        'Progressing=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Blocked=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Succeeded=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Failed=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Reconciling=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Stalled=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
      ],
    ],
    [
      'held up, with only the slot of a failed node taken',
      view({ waiting: 2, failed: 1, done: 1 }, { waitingFor: busy, slots: 1 }),
      [
        'Progressing=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Blocked=True BudgetSpent: the budget is spent',
        'Succeeded=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Failed=False InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Reconciling=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
        'Stalled=True InProgress: 1/4 nodes done, 0 under work; next: the budget is spent',
      ],
    ],
    [
      'a person is needed',
      view({ attention: 1, waiting: 2, done: 1 }, { stop }),
      [
        'Progressing=False RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Blocked=False RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Succeeded=False RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Failed=False RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Reconciling=True RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Stalled=True RequiresAttention: 1/4 nodes done, 1 need a person: look at each with slipway why NODE, then slipway retry to-1-36',
      ],
    ],
    [
      'failed',
      view({ failed: 2, waiting: 2, done: 1 }, { stop, broken: ['w1', 'w2'], waitingFor: busy }),
      [
        'Progressing=False Failed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Blocked=False Failed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Succeeded=False Failed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Failed=True NodesFailed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Reconciling=False Failed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
        'Stalled=True Failed: 1/5 nodes done, 2 failed (w1, w2) and wait for a person: look at each with slipway why NODE, then slipway retry to-1-36',
      ],
    ],
    [
      'paused',
      view({ waiting: 2, working: 1 }, { ...paused, waitingFor: busy }),
      [
        'Progressing=False Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
        'Blocked=False Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
        'Succeeded=False Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
        'Failed=False Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
        'Reconciling=True Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
        'Stalled=True Paused: paused: 0/3 nodes done, 1 under work; go on with slipway resume to-1-36',
      ],
    ],
    [
      'cancelled',
      view({ waiting: 2, done: 1 }, cancelled),
      [
        'Progressing=False Cancelled: cancelled: 1/3 nodes done, the others are as they were',
        'Blocked=False Cancelled: cancelled: 1/3 nodes done, the others are as they were',
        'Succeeded=False Cancelled: cancelled: 1/3 nodes done, the others are as they were',
        'Failed=False Cancelled: cancelled: 1/3 nodes done, the others are as they were',
        'Reconciling=False Cancelled: cancelled: 1/3 nodes done, the others are as they were',
        'Stalled=True Cancelled: cancelled: 1/3 nodes done, the others are as they were',
      ],
    ],
    [
      'succeeded',
      view({ done: 3, skipped: 1 }),
      [
        'Progressing=False Succeeded: all 4/4 nodes are done',
        'Blocked=False Succeeded: all 4/4 nodes are done',
        'Succeeded=True Succeeded: all 4/4 nodes are done',
        'Failed=False Succeeded: all 4/4 nodes are done',
        'Reconciling=False Succeeded: all 4/4 nodes are done',
        'Stalled=False Succeeded: all 4/4 nodes are done',
      ],
    ],
  ])('%s', (_name, given, conditions) => {
    expect(told(given)).toEqual(conditions)
  })
})

describe('merged conditions', () => {
  const old: UpdateCondition = {
    type: 'Progressing',
    status: 'True',
    reason: 'InProgress',
    message: 'before',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  }
  const at = '2026-01-02T00:00:00Z'
  const now = { type: 'Progressing', reason: 'InProgress', message: 'after' } as const

  it('keep the instant while the status stays, and take it anew when it changes', () => {
    expect(mergeConditions([old], [{ ...now, status: 'True' }], at, 2)).toEqual([
      { ...old, message: 'after', observedGeneration: 2 },
    ])
    expect(mergeConditions([old], [{ ...now, status: 'False' }], at, 2)).toEqual([
      { ...old, status: 'False', message: 'after', lastTransitionTime: at, observedGeneration: 2 },
    ])
  })

  it('keep what nobody speaks of, add what is new, cut what is too long', () => {
    const planned = { ...old, type: 'Planned' }
    const merged = mergeConditions([planned], [{ ...now, status: 'True', message: 'x'.repeat(5000) }], at, undefined)
    expect(merged).toEqual([planned, { ...now, status: 'True', message: 'x'.repeat(4000), lastTransitionTime: at }])
  })
})

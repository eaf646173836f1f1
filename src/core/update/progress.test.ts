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
  counts: counts(part),
  slots: 0,
  stopped: false,
  waitingFor: undefined,
  ...more,
})
const busy = { code: 'BudgetSpent', message: 'the budget is spent' } as const

describe('the phase of an update', () => {
  it.each<[string, ProgressView, string]>([
    ['all done', view({ done: 3 }), 'Succeeded'],
    ['all were there already', view({ skipped: 3 }), 'Succeeded'],
    ['done, a slot not returned yet', view({ done: 3 }, { slots: 1 }), 'InProgress'],
    ['some wait', view({ waiting: 1, done: 2 }), 'InProgress'],
    ['some are under work', view({ working: 1, done: 2 }), 'InProgress'],
    ['one failed, others are under work', view({ working: 1, failed: 1 }, { stopped: true }), 'InProgress'],
    ['one needs a person, others are under work', view({ working: 1, attention: 1 }), 'InProgress'],
    ['one needs a person, others wait', view({ attention: 1, waiting: 5 }, { stopped: true }), 'RequiresAttention'],
    ['one needs a person, one failed', view({ attention: 1, failed: 1 }, { stopped: true }), 'RequiresAttention'],
    ['too many failed, others wait', view({ failed: 1, waiting: 5 }, { stopped: true }), 'Failed'],
    ['some failed, as many as may, others wait', view({ failed: 1, waiting: 5 }), 'InProgress'],
    ['some failed, as many as may, none waits', view({ failed: 1, done: 5 }), 'Failed'],
  ])('%s', (_name, given, phase) => {
    expect(phaseOf(given)).toBe(phase)
  })

  it('is never over while a node is under work, needs a person or holds a slot', () => {
    const small = fc.nat(3)
    const any = fc.record({
      waiting: small,
      working: small,
      attention: small,
      failed: small,
      done: small,
      skipped: small,
    })
    fc.assert(
      fc.property(any, small, fc.boolean(), (given, slots, stopped) => {
        const phase = phaseOf({ counts: given, slots, stopped, waitingFor: undefined })
        if (given.working + given.attention > 0) expect(['InProgress', 'RequiresAttention']).toContain(phase)
        if (phase === 'Succeeded') expect(given.waiting + given.failed + slots).toBe(0)
        if (phase === 'Failed') expect(given.failed).toBeGreaterThan(0)
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
        'Blocked=False InProgress: nothing holds it up',
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
        'Blocked=False InProgress: nothing holds it up',
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
      view({ attention: 1, waiting: 2, done: 1 }),
      [
        'Progressing=False RequiresAttention: 1 node(s) need a person, 1/4 done',
        'Blocked=False RequiresAttention: nothing holds it up',
        'Succeeded=False RequiresAttention: 1 node(s) need a person, 1/4 done',
        'Failed=False RequiresAttention: 1 node(s) need a person, 1/4 done',
        'Reconciling=True RequiresAttention: 1 node(s) need a person, 1/4 done',
        'Stalled=True RequiresAttention: 1 node(s) need a person, 1/4 done',
      ],
    ],
    [
      'failed',
      view({ failed: 2, waiting: 2, done: 1 }, { stopped: true, waitingFor: busy }),
      [
        'Progressing=False Failed: 2 node(s) failed, 1/5 done',
        'Blocked=False Failed: nothing holds it up',
        'Succeeded=False Failed: 2 node(s) failed, 1/5 done',
        'Failed=True NodesFailed: 2 node(s) failed; they stay cordoned until the update is edited or deleted',
        'Reconciling=False Failed: 2 node(s) failed, 1/5 done',
        'Stalled=True Failed: 2 node(s) failed, 1/5 done',
      ],
    ],
    [
      'succeeded',
      view({ done: 3, skipped: 1 }),
      [
        'Progressing=False Succeeded: all 4/4 nodes are done',
        'Blocked=False Succeeded: nothing holds it up',
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

import { describe, expect, it } from 'vitest'
import type { DirectUpdate } from '../../api/direct-update.ts'
import { EndWatch } from './plan-steering.ts'

type Status = NonNullable<DirectUpdate['status']>
type Condition = NonNullable<Status['conditions']>[number]

const patience = { stuckMs: 600_000, attentionMs: 120_000 }
const second = 1000

/** What an update shows from each second on. */
function watched(...course: readonly (readonly [fromSecond: number, status: Pick<Status, 'phase' | 'conditions'>])[]) {
  let nowMs = 0
  const look = (): DirectUpdate => ({
    metadata: { name: 'up', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: {},
    status: { ...course.findLast(([from]) => from * second <= nowMs)?.[1] },
  })
  const end = new EndWatch(look, patience)
  for (; nowMs < 3600 * second; nowMs += second) {
    if (end.isOver(nowMs)) return { overAt: nowMs / second, endedAt: end.endMs(nowMs) / second }
  }
  return undefined
}

const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  ...{ type, status, reason, message },
  lastTransitionTime: '2026-01-01T00:00:00Z',
})
const blocked = (reason: string, message = 'by a budget') => ({
  phase: 'InProgress' as const,
  conditions: [condition('Blocked', 'True', reason, message)],
})

describe('an update is over', () => {
  it.each(['Succeeded', 'Failed', 'Cancelled'] as const)('when it is %s', (phase) => {
    expect(watched([0, { phase: 'InProgress' }], [40, { phase }])).toEqual({ overAt: 40, endedAt: 40 })
  })

  it('when it cannot be planned', () => {
    const unplanned = { phase: 'Pending' as const, conditions: [condition('Planned', 'False', 'AgentMissing')] }
    expect(watched([10, unplanned])).toEqual({ overAt: 10, endedAt: 10 })
  })

  it('when a person is wanted for two minutes on end, as of when that began', () => {
    const wanted = { phase: 'RequiresAttention' as const }
    expect(watched([30, wanted])).toEqual({ overAt: 150, endedAt: 30 })
    expect(watched([30, wanted], [140, { phase: 'InProgress' }], [200, wanted])).toEqual({ overAt: 320, endedAt: 200 })
  })

  it('when the same thing has held it up for too long', () => {
    expect(watched([0, blocked('PodDisruptionBudget')])?.overAt).toBe(601)
    const other = blocked('PodDisruptionBudget', 'by another budget')
    expect(watched([0, blocked('PodDisruptionBudget')], [300, other])?.overAt).toBe(901)
  })

  it('never while it waits for what ends by itself', () => {
    expect(watched([0, blocked('WaveSoaking')])).toBeUndefined()
  })
})

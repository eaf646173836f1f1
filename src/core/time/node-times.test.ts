import { describe, expect, it } from 'vitest'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { NodeTimes } from './node-times.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 5, 9, minutes)).toISOString()
const state = (name: string, rollout: Partial<Rollout>): NodeState => ({
  metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: at(0) },
  spec: {},
  status: {
    rollout: { update: 'patches', operationID: 'op', phase: 'Done', since: at(0), attempt: 1, ...rollout },
  },
})
const minute = 60_000

describe('how long nodes take', () => {
  it('is what most of an operation took, and some more', () => {
    const times = new NodeTimes()
    expect(times.neededMs('op')).toBeUndefined()
    for (const took of [10, 20, 30, 40, 50]) times.note('op', took * minute)
    expect(times.neededMs('op')).toBe(48 * minute)
    expect(times.neededMs('other')).toBeUndefined()
  })

  it('is known to the next leader from those that are done', () => {
    const times = new NodeTimes()
    times.recall([
      state('w1', { takenAt: at(0), finishedAt: at(10) }),
      state('w2', { takenAt: at(10), finishedAt: at(20) }),
      state('w3', { operationID: 'other', takenAt: at(0), finishedAt: at(50) }),
      state('failed', { phase: 'Failed', takenAt: at(0) }),
      state('at-work', { phase: 'Working', takenAt: at(20) }),
      state('never-taken', { finishedAt: at(59) }),
    ])
    expect(times.neededMs('op')).toBe(12 * minute)
    expect(times.neededMs('other')).toBe(60 * minute)
  })

  it('goes by the latest of many', () => {
    const times = new NodeTimes()
    const ended = Array.from({ length: 60 }, (_, index) => {
      const took = index < 40 ? 1 : 5
      return state(`w${index}`, { takenAt: at(index), finishedAt: at(index + took) })
    })
    times.recall(ended.toReversed())
    expect(times.neededMs('op')).toBe(6 * minute)
  })
})

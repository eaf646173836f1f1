import { describe, expect, it } from 'vitest'
import { agentOf, node, nodeState, operation, update } from '../../../test/cli/cli-fixture.ts'
import type { Rollout } from '../../api/node-state.ts'
import { changeLines } from './plain.ts'
import { progressView } from './view.ts'

const now = new Date('2026-11-15T12:05:00Z')

function viewOf(rollout: Partial<Rollout>, step?: string) {
  const steps = step === undefined ? [] : [{ name: step, state: 'Running' as const, attempts: 1 }]
  const state = nodeState('w1', rollout, agentOf({ id: `${operation}/1`, state: 'Running', steps }))
  return progressView({
    now,
    update: update({ phase: 'InProgress', operationID: operation }),
    nodes: [node('w1')],
    nodeStates: [state],
  })
}

const budget = (time: string) => ({
  code: 'PodDisruptionBudget' as const,
  message: `waiting for shop/checkout; again at ${time}`,
})

describe('plain lines', () => {
  it.each([
    {
      name: 'another phase',
      before: viewOf({ phase: 'Draining' }),
      after: viewOf({ phase: 'Working' }),
      lines: ['12:05:00 w1 Working'],
    },
    {
      name: 'a new step',
      before: viewOf({ phase: 'Working' }, 'upgrade-kubelet'),
      after: viewOf({ phase: 'Working' }, 'restart-kubelet'),
      lines: ['12:05:00 w1 Working: restart-kubelet'],
    },
    {
      name: 'a step that ended',
      before: viewOf({ phase: 'Working' }, 'script'),
      after: viewOf({ phase: 'Working' }),
      lines: [],
    },
    {
      name: 'something to wait for',
      before: viewOf({ phase: 'Draining' }),
      after: viewOf({ phase: 'Draining', reason: budget('12:06') }),
      lines: ['12:05:00 w1 Draining: waiting for shop/checkout; again at 12:06'],
    },
    {
      name: 'only a later look',
      before: viewOf({ phase: 'Draining', reason: budget('12:06') }),
      after: viewOf({ phase: 'Draining', reason: budget('12:07') }),
      lines: [],
    },
    {
      name: 'its turn to come',
      before: viewOf({ phase: 'Pending' }),
      after: viewOf({ phase: 'Pending', reason: { code: 'BudgetSpent', message: 'two are away' } }),
      lines: [],
    },
    {
      name: 'a node that cannot be touched',
      before: viewOf({ phase: 'Pending' }),
      after: viewOf({ phase: 'Pending', reason: { code: 'NodeNotReady', message: 'w1 is not Ready' } }),
      lines: ['12:05:00 w1 Pending: w1 is not Ready'],
    },
  ])('$name', ({ before, after, lines }) => {
    expect(changeLines(before, after)).toEqual(lines)
  })
})

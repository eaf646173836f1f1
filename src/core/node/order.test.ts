import { expect, it } from 'vitest'
import type { NodeState } from '../../api/node-state.ts'
import { completedBefore } from './order.ts'

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}/${index}`)

function stateWith(operationID: string, completed: string[]): NodeState {
  const since = '2026-01-01T12:00:00Z'
  return {
    metadata: { name: 'w1', uid: '1', resourceVersion: '1', creationTimestamp: since },
    spec: {},
    status: { rollout: { update: 'one', operationID, phase: 'Done', since, attempt: 1 }, completed },
  }
}

const cases: [string, string, string[], string[]][] = [
  ['all where there is room', 'to-1-36/1', ['maintenance:w1/1'], ['to-1-36/1', 'maintenance:w1/1']],
  [
    'an update rather than what comes and goes',
    'maintenance:w1/20',
    [...many('maintenance:w1', 19), 'to-1-36/1'],
    ['maintenance:w1/20', ...many('maintenance:w1', 18), 'to-1-36/1'],
  ],
  [
    'the oldest of profiles and maintenance is the first to go',
    'to-1-36/1',
    [...many('to-1-35', 10), 'maintenance:w1/1', 'profile:base/1-1', ...many('to-1-34', 8)],
    ['to-1-36/1', ...many('to-1-35', 10), 'maintenance:w1/1', ...many('to-1-34', 8)],
  ],
  [
    'the newest in any case, and of updates the newer ones',
    'maintenance:w1/1',
    many('to-1-35', 20),
    ['maintenance:w1/1', ...many('to-1-35', 19)],
  ],
]

it.each(cases)('what a node is done for: %s', (_name, operationID, completed, expected) => {
  expect(completedBefore(stateWith(operationID, completed))).toEqual(expected)
})

import { describe, expect, it } from 'vitest'
import { agentOf, nodeState } from '../../../test/cli/cli-fixture.ts'
import type { AgentStep, NodeState } from '../../api/node-state.ts'
import { stepTimes } from './step-times.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

function worked(name: string, ...steps: readonly [string, number, AgentStep['state']?][]): NodeState {
  return nodeState(
    name,
    undefined,
    agentOf({
      id: 'o',
      state: 'Succeeded',
      steps: steps.map(([step, seconds, state = 'Succeeded']) => ({
        name: step,
        state,
        attempts: 1,
        startedAt: at(0),
        finishedAt: at(seconds),
      })),
    }),
  )
}

describe('how long steps take', () => {
  it('is assumed, with a spread, where nothing was measured', () => {
    expect(stepTimes([]).get('upgrade-packages')).toEqual({
      leastMs: 135_000,
      medianMs: 180_000,
      mostMs: 225_000,
      measured: 0,
    })
  })

  it('is measured over all nodes, the parts of one step together', () => {
    const times = stepTimes([
      worked('w1', ['switch-repository', 5], ['upgrade-node', 10]),
      worked('w2', ['upgrade-node', 40]),
      worked('w3', ['upgrade-node', 20]),
    ])
    const expected = { leastMs: 15_000, medianMs: 20_000, mostMs: 40_000, measured: 3 }
    expect(times.get('upgrade-kubelet')).toEqual(expected)
    expect(times.get('upgrade-control-plane')?.measured).toBe(0)
  })

  it('learns nothing from a step that failed or is unknown', () => {
    const times = stepTimes([worked('w1', ['upgrade-packages', 900, 'Failed'], ['dance', 3])])
    expect([...times.values()].every(({ measured }) => measured === 0)).toBe(true)
  })
})

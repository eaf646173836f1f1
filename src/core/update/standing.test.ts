import { describe, expect, it } from 'vitest'
import { sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { id, operation } from '../../../test/samples/node-views.ts'
import { standingOf } from './standing.ts'

describe('a node that another operation has taken since', () => {
  const standing = (phase: 'Failed' | 'RequiresAttention', isCancelled: boolean) => {
    const state = sampleState('w1', {})
    const failed = [{ operationID: id, phase, attempt: 1 }] as const
    return standingOf(
      sampleNode('w1', {}),
      { ...state, status: { ...state.status, failed: [...failed] } },
      {
        operation: { ...operation, ...(isCancelled && { cancel: 'Finish' as const }) },
        held: false,
        isMember: () => true,
        isDone: () => false,
        joinedByMs: undefined,
      },
    )
  }

  it.each([
    ['failed', 'Failed', false, 'failed'],
    ['called for a person', 'RequiresAttention', false, 'attention'],
    [
      'called for a person, for what is cancelled: nobody has to look there any more',
      'RequiresAttention',
      true,
      'failed',
    ],
  ] as const)('%s', (_name, phase, isCancelled, expected) => {
    expect(standing(phase, isCancelled)).toBe(expected)
  })
})

describe('a node that others have brought further meanwhile', () => {
  const step = (index: number) => ({ index, of: 2, version: 'v1.36.3', takesWorkers: true })
  const both = {
    kubernetes: { version: 'v1.36.3' },
    script: { configMap: 'work', namespace: 'slipway-system', sha256: 'ab' },
  }
  const standing = (path: { index: number } | undefined, kubelet: string, more: object = {}) => {
    const state = sampleState('w1', {})
    return standingOf(
      sampleNode('w1', { kubelet }),
      { ...state, status: { ...state.status, ...more } },
      {
        operation: { ...operation, work: both, retry: { token: 'again' }, ...(path && { step: step(path.index) }) },
        held: false,
        isMember: () => true,
        isDone: () => false,
        joinedByMs: undefined,
      },
    )
  }
  const failed = { failed: [{ operationID: id, phase: 'Failed', attempt: 1 }] }

  it.each([
    ['is not brought back on the way', { index: 0 }, 'v1.37.3', {}, 'skipped'],
    ['is not brought back by a retry', { index: 0 }, 'v1.37.3', failed, 'skipped'],
    ['has what else there is to do with the last step', { index: 1 }, 'v1.37.3', {}, 'waiting'],
    ['has it too where it is no further', { index: 0 }, 'v1.36.3', {}, 'waiting'],
  ] as const)('%s', (_name, path, kubelet, more, expected) => {
    expect(standing(path, kubelet, more)).toBe(expected)
  })
})

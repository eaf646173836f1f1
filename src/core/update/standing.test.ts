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

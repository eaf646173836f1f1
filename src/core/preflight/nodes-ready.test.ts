import { describe, expect, it } from 'vitest'
import { answerOf, type ViewTraits } from '../../../test/samples/check-views.ts'
import { nodesReady } from './nodes-ready.ts'

const noControlPlane = 'Failed: of the control plane c1 is not Ready; bring it back first'

describe('the check NodesReady', () => {
  it.each<[string, ViewTraits, string]>([
    ['all are', {}, 'Passed: 3 nodes are Ready'],
    [
      'a worker of the update is away',
      { hosts: { w1: { ready: 'Unknown' }, w2: {} } },
      'Warning: w1 is not Ready and waits until it is',
    ],
    [
      'a worker of others is away',
      { hosts: { w1: { ready: 'False', left: true }, w2: {} } },
      'Passed: 1 nodes are Ready',
    ],
    ['the control plane is not whole', { hosts: { c1: { ready: 'False' }, w1: {} } }, noControlPlane],
    ['selected or not', { hosts: { c1: { ready: 'False', left: true }, w1: {} } }, noControlPlane],
  ])('%s', (_name, traits, answer) => expect(answerOf(nodesReady, traits)).toBe(answer))
})

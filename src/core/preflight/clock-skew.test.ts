import { describe, expect, it } from 'vitest'
import { answerOf, noon, unseen, type ViewTraits, whole } from '../../../test/samples/check-views.ts'
import { clockSkew } from './clock-skew.ts'

const renewed = (seconds: Record<string, number>): ViewTraits => ({
  sights: {
    heartbeats: {
      seen: {
        at: noon,
        renewedAt: new Map(
          Object.entries(seconds).map(([name, ahead]) => [name, new Date(noon.getTime() + ahead * 1000).toISOString()]),
        ),
      },
    },
  },
})
const agree = (nodes: number) => `Passed: the clocks of ${nodes} nodes agree with ours`
const wrong = (result: string, said: string, whose = 'the clocks of') =>
  `${result}: ${whose} ${said} are wrong; look at their time synchronization`

describe('the check ClockSkew', () => {
  it.each<[string, ViewTraits, string]>([
    ['renewed a moment ago', renewed({ c1: -3, w1: -9, w2: -10 }), agree(3)],
    ['about to be renewed', renewed({ c1: -3, w1: -49, w2: 9 }), agree(3)],
    ['ahead', renewed({ c1: -3, w1: 60, w2: -5 }), wrong('Warning', 'w1 (at least 60 s ahead)')],
    ['behind', renewed({ c1: -3, w1: -120, w2: -5 }), wrong('Warning', 'w1 (at least 70 s behind)')],
    [
      'so far that new certificates are not valid',
      renewed({ c1: -3, w1: 300, w2: -5 }),
      wrong('Failed', 'w1 (at least 300 s ahead)'),
    ],
    [
      'of all: then it is ours',
      renewed({ c1: 60, w1: 61, w2: 62 }),
      wrong(
        'Warning',
        'c1 (at least 60 s ahead), w1 (at least 61 s ahead), w2 (at least 62 s ahead)',
        'the clock here, or those of',
      ),
    ],
    [
      'a node that is not Ready has stopped, not its clock',
      { hosts: { ...whole, w1: { ready: 'Unknown' } }, ...renewed({ c1: -3, w1: -900, w2: -5 }) },
      agree(2),
    ],
    [
      'no Lease',
      renewed({ c1: -3, w1: -9 }),
      'Failed: the clocks of w2 are not known: without a Lease in kube-node-lease nothing tells of them; look at the kubelet there, or look at the clocks and skip ClockSkew',
    ],
    [
      'no Lease, and another clock is off',
      renewed({ c1: -3, w1: 60 }),
      `${wrong('Failed', 'w1 (at least 60 s ahead)')}; the clocks of w2 are not known: without a Lease in kube-node-lease nothing tells of them; look at the kubelet there, or look at the clocks and skip ClockSkew`,
    ],
    [
      'no Lease of a node that is none of the update',
      { hosts: { ...whole, w2: { left: true } }, ...renewed({ c1: -3, w1: -9 }) },
      'Warning: the clocks of w2 are not known, there is no Lease; this update touches nothing there',
    ],
    [
      'no Lease of a node that is not Ready',
      { hosts: { ...whole, w2: { ready: 'Unknown' } }, ...renewed({ c1: -3, w1: -9 }) },
      agree(2),
    ],
    ['Leases cannot be read', { sights: { heartbeats: unseen } }, `Unknown: ${unseen.unseen}`],
  ])('%s', (_name, traits, answer) => expect(answerOf(clockSkew, traits)).toBe(answer))
})

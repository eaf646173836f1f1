import { describe, expect, it } from 'vitest'
import { answerOf, type HostTraits, load, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import { capacity } from './capacity.ts'
import type { NodeLoad } from './sights.ts'

const gib = 2 ** 30
const allocatable = { cpu: '4', memory: '8Gi', pods: '110' }
const node: HostTraits = { allocatable }
const other: HostTraits = { allocatable, left: true }
const tainted: HostTraits = { allocatable, taints: [{ key: 'gpu', effect: 'NoSchedule' }] }

function cluster(hosts: Record<string, HostTraits>, loads: Record<string, NodeLoad>): ViewTraits {
  const pods = { loads: new Map(Object.entries(loads)), budgets: [], underTwo: { total: 0, first: [] } }
  return { hosts, sights: { pods: { seen: pods } } }
}

const all = (cpu: number, memoryGiB: number, pods: number) => {
  const amount = { cpu, memoryBytes: memoryGiB * gib, pods }
  return load({ asked: amount, moving: amount })
}
const fits = 'Passed: the pods of each node have room on the others'
const nowhere = (why: string) =>
  `Failed: pods of w1 (${why}) fit nowhere else while it is away; add nodes or lower their requests`

describe('the check Capacity', () => {
  it.each<[string, ViewTraits, string]>([
    ['nothing asked for', {}, fits],
    ['room enough', cluster({ w1: node, w2: other }, { w1: all(3, 6, 20), w2: all(1, 2, 20) }), fits],
    ['exactly enough', cluster({ w1: node, w2: other }, { w1: all(3, 6, 20), w2: all(1, 2, 90) }), fits],
    [
      'too little CPU',
      cluster({ w1: node, w2: other }, { w1: all(3.5, 1, 20), w2: all(1, 0, 1) }),
      nowhere('3.5 CPU asked for, 3 free'),
    ],
    [
      'too little memory',
      cluster({ w1: node, w2: other }, { w1: all(1, 6, 20), w2: all(1, 3, 1) }),
      nowhere('6 GiB memory asked for, 5 GiB free'),
    ],
    [
      'too many pods',
      cluster({ w1: node, w2: other }, { w1: all(0, 0, 60), w2: all(0, 0, 100) }),
      nowhere('60 pods, room for 10'),
    ],
    [
      'one pod too large for any other node',
      cluster(
        { w1: node, w2: other, w3: other },
        {
          w1: load({ moving: { cpu: 3, memoryBytes: 0, pods: 1 }, largestCpu: { pod: 'shop/db-0', amount: 3 } }),
          w2: all(2, 0, 1),
          w3: all(2, 0, 1),
        },
      ),
      nowhere('shop/db-0 asks for 3 CPU'),
    ],
    [
      'what stays on the node counts for nothing',
      cluster({ w1: node, w2: other }, { w1: load({ asked: { cpu: 4, memoryBytes: 0, pods: 1 } }), w2: all(2, 0, 1) }),
      fits,
    ],
    [
      'a node that is away is no room',
      cluster({ w1: node, w2: { ...node, cordoned: true }, w3: other }, { w1: all(3, 0, 1), w3: all(2, 0, 1) }),
      nowhere('3 CPU asked for, 2 free'),
    ],
    [
      'room on tainted nodes only is not certain',
      cluster({ w1: node, w2: tainted, w3: other }, { w1: all(3, 0, 1), w3: all(2, 0, 1) }),
      'Warning: pods of w1 (3 CPU asked for, 2 free) may have no room on nodes without taints while it is away, and wait until it is back',
    ],
    [
      'a cluster of one node has nowhere to go, and goes on',
      cluster({ w1: node }, { w1: all(1, 1, 1) }),
      'Warning: pods of w1 (1 CPU asked for, 0 free) have no other node to go to while it is away, and wait until it is back',
    ],
    [
      'neither has one beside a control plane',
      cluster({ c1: tainted, w1: node }, { c1: all(3, 0, 1), w1: all(2, 0, 1) }),
      'Warning: pods of c1 (3 CPU asked for, 2 free), w1 (2 CPU asked for, 1 free) have no other node to go to while it is away, and wait until it is back',
    ],
    ['nodes that do not say what they have', cluster({ w1: {}, w2: {} }, { w1: all(64, 512, 1) }), fits],
    ['pods cannot be read', { sights: { pods: unseen } }, `Unknown: ${unseen.unseen}`],
  ])('%s', (_name, traits, answer) => expect(answerOf(capacity, traits)).toBe(answer))
})

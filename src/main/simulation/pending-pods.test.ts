import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/kube.ts'
import type { Blocker } from '../../core/plan/blocker.ts'
import { PendingPods } from './pending-pods.ts'

const short: Blocker = { key: 'PodDisruptionBudget web', code: 'PodDisruptionBudget', message: '', lasting: false }

const podOn = (nodeName?: string): Pod => ({
  metadata: { name: 'web-1', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
})

/** A pod that looks for a node from second 10 on; a node is back at second 30, and the last one is taken at second 50. */
function told(given: { readonly placedAt?: number; readonly next?: string; readonly lastAt?: number }) {
  let second = 10
  const clock = { monotonicMs: () => second * 1000 }
  const pods = new PendingPods({
    clock,
    workloadOf: () => 'Deployment web',
    shortOf: () => ({ blocker: short, nodes: new Set(['w2']) }),
  })
  pods.note(undefined, podOn(), clock.monotonicMs())
  second = 30
  pods.nodeIsBack(clock.monotonicMs())
  second = given.placedAt ?? 700
  if (given.placedAt !== undefined) pods.note(podOn(), podOn('w1'), clock.monotonicMs())
  const { near, unplaced } = pods.end([
    { name: given.next ?? 'w2', wave: 1, atMs: (given.lastAt ?? 50) * 1000, afterMove: false },
  ])
  return { near: near.length, unplaced: unplaced.get('Deployment web')?.pods ?? 0 }
}

describe('a pod without a node', () => {
  it.each([
    { name: 'gets the room of the first that is back', given: { placedAt: 30 }, near: 0, unplaced: 0 },
    { name: 'is passed over, and others are drained after that', given: { placedAt: 45 }, near: 1, unplaced: 0 },
    {
      name: 'is passed over, and no sibling is drained after that',
      given: { placedAt: 45, next: 'w3' },
      near: 0,
      unplaced: 0,
    },
    {
      name: 'is passed over when nobody is drained any more',
      given: { placedAt: 45, lastAt: 20 },
      near: 0,
      unplaced: 0,
    },
    { name: 'waits for long', given: { placedAt: 90, lastAt: 20 }, near: 0, unplaced: 1 },
    { name: 'never finds one', given: { lastAt: 20 }, near: 0, unplaced: 1 },
  ])('$name', ({ given, near, unplaced }) => {
    expect(told(given)).toEqual({ near, unplaced })
  })
})

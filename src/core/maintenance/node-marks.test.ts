import { describe, expect, it } from 'vitest'
import type { Node } from '../../api/kube.ts'
import { annotationChange, inProgressAnnotation, neededAnnotation, taintChange, waitingTaint } from './node-marks.ts'

const at = '2026-01-01T01:00:00Z'
const node = (annotations: Record<string, string>, taints: readonly string[] = []): Node => ({
  metadata: { name: 'w1', uid: 'u', resourceVersion: '1', creationTimestamp: at, annotations },
  spec: { taints: taints.map((key) => ({ key, effect: 'PreferNoSchedule' as const })) },
})

describe('the marks of maintenance on a Node', () => {
  it.each([
    { name: 'asked for', has: {}, needed: at, change: { [inProgressAnnotation]: at, [neededAnnotation]: at } },
    { name: 'still asked for', has: { [inProgressAnnotation]: 'x' }, needed: at, change: undefined },
    {
      name: 'over',
      has: { [inProgressAnnotation]: at, [neededAnnotation]: at },
      needed: undefined,
      change: { [inProgressAnnotation]: null },
    },
    { name: 'never asked for', has: {}, needed: undefined, change: undefined },
  ])('$name', ({ has, needed, change }) => {
    expect(annotationChange(node(has), needed)).toEqual(change)
  })

  it.each([
    { has: [], waits: true, change: { taint: 'add', first: true } },
    { has: ['a'], waits: true, change: { taint: 'add', first: false } },
    { has: ['a', waitingTaint], waits: true, change: undefined },
    { has: ['a', waitingTaint], waits: false, change: { taint: 'remove', index: 1 } },
    { has: ['a'], waits: false, change: undefined },
  ])('taints $has, waits $waits', ({ has, waits, change }) => {
    expect(taintChange(node({}, has), waits)).toEqual(change)
  })
})

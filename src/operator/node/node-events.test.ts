import { describe, expect, it } from 'vitest'
import { sampleNode } from '../../../test/samples/cluster-objects.ts'
import { at, draining, rollout } from '../../../test/samples/node-views.ts'
import type { Rollout } from '../../api/node-state.ts'
import { eventsOf } from './node-events.ts'

const node = sampleNode('w1')
const said = (before: Rollout | undefined, after: Rollout) =>
  eventsOf(node, before, after).map(({ type, reason, related }) => `${type} ${reason} ${related.kind} ${related.name}`)
const entry = (pod: string, code: 'PodForced' | 'PodRemoved') =>
  ({ pod, state: 'Forced', reason: { code, message: `${pod} is deleted` } }) as const
const forcing = (...pods: readonly ReturnType<typeof entry>[]): Rollout => ({
  ...draining,
  drain: { total: 3, left: pods.length, pods: [...pods] },
  ...(pods[0] && { reason: { ...pods[0].reason, since: at(1) } }),
})

describe('what is told of a node', () => {
  it.each<[string, Rollout | undefined, Rollout, readonly string[]]>([
    ['it was taken', undefined, draining, ['Normal NodeTaken DirectUpdate to-1-36']],
    ['nothing new', draining, draining, []],
    [
      'each pod that is forced, once',
      forcing(entry('shop/a', 'PodForced')),
      forcing(entry('shop/a', 'PodForced'), entry('shop/b', 'PodForced')),
      ['Warning PodForced Pod b'],
    ],
    [
      'the same pod, when no grace is left',
      forcing(entry('shop/a', 'PodForced')),
      forcing(entry('shop/a', 'PodRemoved')),
      ['Warning PodRemoved Pod a'],
    ],
    [
      'why it was given up',
      draining,
      rollout('Failed', { reason: { code: 'DrainAborted', message: 'given up' } }),
      ['Warning DrainAborted DirectUpdate to-1-36'],
    ],
  ])('%s', (_name, before, after, expected) => {
    expect(said(before, after)).toEqual(expected)
  })
})

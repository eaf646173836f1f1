import { expect, test } from 'vitest'
import type { NodeTile } from '../../api/console.ts'
import { nodeActions } from './node-actions.ts'

const idle: NodeTile = {
  ...{ name: 'w1', zone: 'eu-1a', group: 'General', role: 'Worker', phase: 'Idle' },
  ...{ waits: false, kubelet: 'v1.36.3' },
}

test.each([
  ['nothing is going on', {}, ['hold']],
  ['a person keeps it', { hold: 'ben' }, ['release']],
  ['it waits for its update', { phase: 'Pending', update: 'up' }, ['hold', 'skip']],
  ['it failed for its update', { phase: 'Failed', update: 'up' }, ['retry', 'hold', 'skip']],
  ['it failed for a profile', { phase: 'Failed', profile: 'base' }, ['retry-profile', 'release', 'hold']],
  ['its maintenance needs a person', { phase: 'RequiresAttention' }, ['release', 'hold']],
  ['it is done', { phase: 'Done', update: 'up' }, ['hold']],
] as const)('%s', (_, more, actions) => {
  expect(nodeActions({ ...idle, ...more })).toEqual(actions)
})

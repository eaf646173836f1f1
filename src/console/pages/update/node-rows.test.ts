import { expect, test } from 'vitest'
import type { NodeTile, TilePhase } from '../../../api/console.ts'
import { nodesOf, selected, track } from './node-rows.ts'

const tile = (name: string, phase: TilePhase, facts: Partial<NodeTile> = {}): NodeTile => ({
  name,
  zone: 'a',
  group: 'Worker',
  role: 'Worker',
  phase,
  update: 'u',
  waits: false,
  kubelet: 'v1.35.0',
  ...facts,
})
const tiles = [
  tile('w-10', 'Draining', { waits: true }),
  tile('w-9', 'Draining'),
  tile('w-1', 'Done'),
  tile('w-2', 'Failed'),
  tile('w-3', 'Pending', { waits: true }),
  tile('w-4', 'Working', { update: 'another' }),
]
const nodes = nodesOf(Object.fromEntries(tiles.map((one) => [one.name, one])), 'u')
const names = (some: readonly NodeTile[]) => some.map(({ name }) => name)

test('only its own nodes, what broke first, names counted and not spelt', () => {
  expect(names(nodes)).toEqual(['w-2', 'w-9', 'w-10', 'w-3', 'w-1'])
})

test.each([
  ['Active', ['w-2', 'w-9', 'w-10']],
  ['Waiting', ['w-10', 'w-3']],
  ['All', ['w-2', 'w-9', 'w-10', 'w-3', 'w-1']],
] as const)('%s shows %s', (selection, expected) => {
  expect(names(selected(nodes, selection))).toEqual(expected)
})

test.each([
  ['Pending', undefined, 'Next Next Next Next Next Next'],
  ['Staging', undefined, 'Now Next Next Next Next Next'],
  ['Cordoned', undefined, 'Done Now Next Next Next Next'],
  ['Working', 'kubeadm', 'Done Done Done Now Next Next'],
  ['Failed', 'kubeadm', 'Done Done Done Broken Next Next'],
  ['RequiresAttention', undefined, 'Done Broken Next Next Next Next'],
  ['Done', undefined, 'Done Done Done Done Done Done'],
] as const)('a node that is %s (step %s) is at %s', (phase, step, expected) => {
  const shown = track(tile('w', phase, step === undefined ? {} : { step }))
  expect(shown.map(({ state }) => state).join(' ')).toBe(expected)
})

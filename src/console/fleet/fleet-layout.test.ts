import { expect, test } from 'vitest'
import type { NodeTile } from '../../api/console.ts'
import { fleetLayout, type Nodes, samePlaces } from './fleet-layout.ts'

function fleet(...places: readonly (readonly [name: string, zone: string, group: string])[]): Nodes {
  const tiles = places.map(
    ([name, zone, group]): NodeTile => ({
      ...{ name, zone, group, role: group === 'ControlPlane' ? 'ControlPlane' : 'Worker' },
      ...{ phase: 'Done', waits: false, kubelet: 'v1.36.3' },
    }),
  )
  return Object.fromEntries(tiles.map((tile) => [tile.name, tile]))
}

const nodes = fleet(
  ['w10', 'b', 'Worker'],
  ['w2', 'b', 'Worker'],
  ['cp1', 'a', 'ControlPlane'],
  ['gpu1', 'a', 'gpu'],
  ['w1', 'a', 'Worker'],
)

test('zones stand side by side, the control plane first, names in the order a person counts', () => {
  const [band] = fleetLayout(nodes).bands
  expect(band?.zones).toEqual([
    { name: 'a', total: 3 },
    { name: 'b', total: 2 },
  ])
  expect(band?.rows.map(({ group, cells }) => [group, ...cells.map(({ names }) => names.join(' '))])).toEqual([
    ['ControlPlane', 'cp1', ''],
    ['gpu', 'gpu1', ''],
    ['Worker', 'w1', 'w2 w10'],
  ])
})

test('more than four zones go on below, and no node is lost', () => {
  const many = fleet(...Array.from({ length: 9 }, (_, zone) => [`n${zone}`, `z${zone}`, 'Worker'] as const))
  const { bands, total } = fleetLayout(many)
  expect(bands.map(({ zones }) => zones.length)).toEqual([4, 4, 1])
  expect(total).toBe(9)
})

test('a phase moves nothing; another zone, a new node or a lost one do', () => {
  const w1 = nodes.w1 as NodeTile
  expect(samePlaces(nodes, { ...nodes, w1: { ...w1, phase: 'Draining' } })).toBe(true)
  expect(samePlaces(nodes, { ...nodes, w1: { ...w1, zone: 'b' } })).toBe(false)
  expect(samePlaces(nodes, { ...nodes, w3: { ...w1, name: 'w3' } })).toBe(false)
  const { w1: _, ...fewer } = nodes
  expect(samePlaces(nodes, fewer)).toBe(false)
})

// Which nodes of an update a table shows, in which order, and how far each of them is.

import type { NodeTile, TilePhase } from '../../../api/console.ts'

export const selections = ['Active', 'Waiting', 'All'] as const
export type Selection = (typeof selections)[number]

/** What broke first, then what moves, the farthest first; then what is still to come, then what is over. */
const order: readonly TilePhase[] = [
  ...(['Failed', 'RequiresAttention', 'NotReady', 'Draining', 'Cordoned', 'Working', 'Assigned'] as const),
  ...(['Verifying', 'Staging', 'Pending', 'Idle', 'Skipped', 'Done'] as const),
]
const quiet: ReadonlySet<TilePhase> = new Set(['Pending', 'Idle', 'Skipped', 'Done'])

export function nodesOf(nodes: Readonly<Record<string, NodeTile>>, update: string): readonly NodeTile[] {
  return Object.values(nodes)
    .filter((tile) => tile.update === update)
    .sort(
      (a, b) =>
        order.indexOf(a.phase) - order.indexOf(b.phase) || a.name.localeCompare(b.name, undefined, { numeric: true }),
    )
}

export function selected(tiles: readonly NodeTile[], selection: Selection): readonly NodeTile[] {
  switch (selection) {
    case 'Active':
      return tiles.filter(({ phase }) => !quiet.has(phase))
    case 'Waiting':
      return tiles.filter(({ waits }) => waits)
    case 'All':
      return tiles
  }
}

/** The stations of a node's way, as its phases are written. */
const stations: readonly TilePhase[] = ['Staging', 'Draining', 'Assigned', 'Working', 'Verifying', 'Done']

export type Station = { readonly name: string; readonly state: 'Done' | 'Now' | 'Broken' | 'Next' }

export function track({ phase, step }: NodeTile): readonly Station[] {
  const broken = phase === 'Failed' || phase === 'RequiresAttention' || phase === 'NotReady'
  // What failed on the host did so at work; without a step it did not get so far.
  const at = broken ? stations.indexOf(step === undefined ? 'Draining' : 'Working') : reached(phase)
  return stations.map((name, index) => {
    if (phase === 'Done' || index < at) return { name, state: 'Done' }
    if (index > at) return { name, state: 'Next' }
    return { name, state: broken ? 'Broken' : 'Now' }
  })
}

function reached(phase: TilePhase): number {
  return phase === 'Cordoned' ? stations.indexOf('Draining') : stations.indexOf(phase)
}

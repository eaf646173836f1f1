// The filter of the fleet: words that must all hold. It dims the rest and never re-orders.

import type { NodeTile, TilePhase } from '../../api/console.ts'
import { phaseLook } from '../parts/phase-look.ts'
import { groupTitle } from './fleet-layout.ts'

export interface FleetFilter {
  readonly words: string
  readonly phases: ReadonlySet<TilePhase>
}

export const noFilter: FleetFilter = { words: '', phases: new Set() }

type Judge = (tile: NodeTile) => boolean
type WaveTitle = (tile: NodeTile) => string | undefined

const keyed: Readonly<Record<string, (value: string, waveOf: WaveTitle) => Judge>> = {
  name: (value) => (tile) => has(tile.name, value),
  zone: (value) => (tile) => has(tile.zone, value),
  phase: (value) => (tile) => begins(tile.phase, value) || begins(phaseLook(tile.phase).label, value),
  // `wave:3` is the wave that is called Wave 3 (of 4).
  wave: (value, waveOf) => (tile) =>
    (waveOf(tile) ?? '')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .slice(0, 2)
      .includes(value),
  role: (value) => (tile) =>
    begins(tile.role, value) || begins(tile.group, value) || begins(groupTitle(tile.group), value),
  update: (value) => (tile) => tile.update !== undefined && has(tile.update, value),
  profile: (value) => (tile) => tile.profile !== undefined && has(tile.profile, value),
  version: (value) => (tile) => has(tile.kubelet, value),
}

export const filterKeys = Object.keys(keyed)

export interface FleetJudge {
  readonly matches: Judge
  readonly active: boolean
  /** Words before a colon that mean nothing here. */
  readonly unknown: readonly string[]
}

export function fleetJudge({ words, phases }: FleetFilter, waveOf: WaveTitle): FleetJudge {
  const unknown: string[] = []
  const judges = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word): Judge => {
      const colon = word.indexOf(':')
      if (colon < 0) return anywhere(word)
      const key = word.slice(0, colon)
      const judge = keyed[key]
      if (!judge) {
        unknown.push(key)
        return () => false
      }
      return judge(word.slice(colon + 1), waveOf)
    })
  const matches = (tile: NodeTile) =>
    (phases.size === 0 || phases.has(tile.phase)) && judges.every((judge) => judge(tile))
  return { matches, active: phases.size > 0 || judges.length > 0, unknown }
}

function anywhere(word: string): Judge {
  return (tile) => has(tile.name, word) || has(tile.zone, word) || has(phaseLook(tile.phase).label, word)
}

function has(text: string, part: string): boolean {
  return text.toLowerCase().includes(part)
}

function begins(text: string, part: string): boolean {
  return text.toLowerCase().startsWith(part)
}

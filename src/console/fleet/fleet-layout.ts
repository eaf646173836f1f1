// Where each node has its place: columns are zones, rows are groups, inside by name. A change of phase moves nothing.

import type { NodeTile } from '../../api/console.ts'

export type Nodes = Readonly<Record<string, NodeTile>>

export interface FleetCell {
  readonly zone: string
  readonly group: string
  readonly names: readonly string[]
}

export interface FleetRow {
  readonly group: string
  readonly total: number
  /** One for each zone of the band, in its order. */
  readonly cells: readonly FleetCell[]
}

/** As many zones as stand side by side. */
export interface FleetBand {
  readonly zones: readonly { readonly name: string; readonly total: number }[]
  readonly rows: readonly FleetRow[]
}

export interface FleetLayout {
  readonly bands: readonly FleetBand[]
  readonly total: number
}

const zonesInBand = 4
const byName = new Intl.Collator('en', { numeric: true }).compare

export function fleetLayout(nodes: Nodes): FleetLayout {
  const cells = new Map<string, Map<string, string[]>>()
  const groups = new Set<string>()
  let total = 0
  for (const { name, zone, group } of Object.values(nodes)) {
    total += 1
    groups.add(group)
    const column = cells.get(zone) ?? new Map<string, string[]>()
    cells.set(zone, column)
    const names = column.get(group)
    if (names) names.push(name)
    else column.set(group, [name])
  }
  const zones = [...cells.keys()].sort(byName)
  const rows = [...groups].sort(byGroup)
  const bands: FleetBand[] = []
  for (let at = 0; at < zones.length; at += zonesInBand) {
    bands.push(band(zones.slice(at, at + zonesInBand), rows, cells))
  }
  return { bands, total }
}

function band(
  zones: readonly string[],
  groups: readonly string[],
  cells: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>,
): FleetBand {
  const rows = groups.map((group): FleetRow => {
    const row = zones.map((zone): FleetCell => {
      const names = [...(cells.get(zone)?.get(group) ?? [])].sort(byName)
      return { zone, group, names }
    })
    return { group, cells: row, total: row.reduce((sum, { names }) => sum + names.length, 0) }
  })
  const heads = zones.map((name, at) => ({
    name,
    total: rows.reduce((sum, { cells: row }) => sum + (row[at]?.names.length ?? 0), 0),
  }))
  return { zones: heads, rows: rows.filter(({ total }) => total > 0) }
}

/** The control plane first, plain workers last of the pools. */
function byGroup(a: string, b: string): number {
  return rank(a) - rank(b) || byName(a, b)
}

function rank(group: string): number {
  if (group === 'ControlPlane') return 0
  return group === 'Worker' ? 2 : 1
}

/** Whether the nodes have the same places as before: then the layout before still holds. */
export function samePlaces(before: Nodes, after: Nodes): boolean {
  const names = Object.keys(after)
  if (names.length !== Object.keys(before).length) return false
  return names.every((name) => {
    const [was, is] = [before[name], after[name]]
    return was === is || (was !== undefined && was.zone === is?.zone && was.group === is.group)
  })
}

export function groupTitle(group: string): string {
  return group === 'ControlPlane' ? 'Control plane' : group
}

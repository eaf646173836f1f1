// Whose turn it is. Slots go round: whoever was given one longest ago is next, and who never was goes by the age of the
// request. So a small request waits for at most one slot of each who asked before it, however many nodes those still want.

import type { Turn } from '../../api/maintenance-policy.ts'
import { maintenancePrefix } from '../maintenance/wish.ts'
import { ownerOfOperation } from '../update/operation.ts'

/** Who takes turns: an update, a profile, or maintenance as a whole, which has an operation for each node. */
export function laneOf(holder: string): string {
  return holder.startsWith(maintenancePrefix) ? 'maintenance' : ownerOfOperation(holder)
}

export interface Standing {
  readonly lane: string
  /** When the request was made, in milliseconds. */
  readonly since: number
  readonly controlPlane: boolean
}

/** Control-plane nodes first; then the lane that has waited longest. */
export function byTurn(served: ReadonlyMap<string, number>): (a: Standing, b: Standing) => number {
  const lastOf = ({ lane }: Standing) => served.get(lane) ?? 0
  const waitingSince = (standing: Standing) => Math.max(standing.since, lastOf(standing))
  return (a, b) => {
    if (a.controlPlane !== b.controlPlane) return a.controlPlane ? -1 : 1
    return waitingSince(a) - waitingSince(b) || lastOf(a) - lastOf(b)
  }
}

export function servedAt(turns: readonly Turn[] = []): ReadonlyMap<string, number> {
  return new Map(turns.map(({ lane, at }) => [lane, Date.parse(at)]))
}

/** What is remembered after a pass: only of those who may ask again. */
export function turnsAfter(
  before: readonly Turn[] = [],
  granted: Iterable<string>,
  asking: Iterable<string>,
  at: string,
): readonly Turn[] {
  const lanes = new Set(['maintenance', ...asking])
  const turns = new Map(before.flatMap(({ lane, at: then }) => (lanes.has(lane) ? [[lane, then]] : [])))
  for (const lane of granted) turns.set(lane, at)
  return [...turns].map(([lane, then]) => ({ lane, at: then }))
}

// In which order an operation takes its nodes, and so which wave each belongs to. Only what lasts counts here: the answer is
// the same in every life of the operator, and a node that leaves never moves another one back.

import type { Node } from '../../api/kube.ts'
import type { Role } from '../node/node-facts.ts'

export interface Turn {
  readonly name: string
  /** The `turnKey` of the name: made once, compared often. */
  readonly key: string
  readonly role: Role
  readonly weight: number
  readonly zone: string
}

export const weightLabel = 'slipway.dev/weight'
const zoneLabel = 'topology.kubernetes.io/zone'

/** More than any label says. */
const weightOfFirst = 2_000_000_000

/** Higher ones first; a label that is no whole number counts as none. `first`: the names that come before all others. */
export function weightOf({ metadata }: Node, first: readonly string[] = []): number {
  const place = first.indexOf(metadata.name)
  if (place >= 0) return weightOfFirst - place
  const text = metadata.labels?.[weightLabel] ?? ''
  return /^-?\d{1,9}$/.test(text) ? Number(text) : 0
}

export function zoneOf({ metadata }: Node): string {
  return metadata.labels?.[zoneLabel] ?? ''
}

/** The control plane, then workers: by weight, zone by zone in turn, by name with numbers as numbers. */
export function turnOrder<T extends Turn>(members: Iterable<T>): readonly T[] {
  const byRole = { ControlPlane: new Map<number, T[]>(), Worker: new Map<number, T[]>() }
  for (const member of members) {
    const classes = byRole[member.role]
    const equals = classes.get(member.weight)
    if (equals) equals.push(member)
    else classes.set(member.weight, [member])
  }
  return [...heaviestFirst(byRole.ControlPlane), ...heaviestFirst(byRole.Worker)].flatMap((equals) =>
    byZone(equals.sort((a, b) => compare(a.key, b.key))),
  )
}

/** Zone by zone in turn; zones come in the order of their first nodes. */
function byZone<T extends Turn>(equals: readonly T[]): readonly T[] {
  const zones = new Map<string, T[]>()
  for (const member of equals) {
    const zone = zones.get(member.zone)
    if (zone) zone.push(member)
    else zones.set(member.zone, [member])
  }
  const inTurn: T[] = []
  for (let round = 0; inTurn.length < equals.length; round++) {
    for (const zone of zones.values()) {
      const member = zone[round]
      if (member) inTurn.push(member)
    }
  }
  return inTurn
}

function heaviestFirst<T>(classes: ReadonlyMap<number, T[]>): readonly T[][] {
  return [...classes].sort(([a], [b]) => b - a).map(([, equals]) => equals)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Plain comparison of these puts w2 before w10, and no two names have the same. */
export function turnKey(name: string): string {
  return `${name.replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'))} ${name}`
}

// In which order an operation takes its nodes, and so which wave each belongs to. Only what lasts counts here: the answer is
// the same in every life of the operator, and a node that leaves never moves another one back.

import type { Node } from '../../api/kube.ts'
import type { Role } from '../node/node-facts.ts'

export interface Turn {
  readonly name: string
  readonly role: Role
  readonly weight: number
  readonly zone: string
}

export const weightLabel = 'slipway.dev/weight'
const zoneLabel = 'topology.kubernetes.io/zone'

/** Higher ones first; a label that is no whole number counts as none. */
export function weightOf({ metadata }: Node): number {
  const text = metadata.labels?.[weightLabel] ?? ''
  return /^-?\d{1,9}$/.test(text) ? Number(text) : 0
}

export function zoneOf({ metadata }: Node): string {
  return metadata.labels?.[zoneLabel] ?? ''
}

interface Keyed<T> {
  readonly member: T
  readonly key: string
}

/** The control plane, then workers: by weight, zone by zone in turn, by name with numbers as numbers. */
export function turnOrder<T extends Turn>(members: Iterable<T>): readonly T[] {
  const classes = new Map<string, Keyed<T>[]>()
  for (const member of members) {
    const id = `${member.role} ${member.weight}`
    const equals = classes.get(id) ?? []
    equals.push({ member, key: naturalKey(member.name) })
    if (equals.length === 1) classes.set(id, equals)
  }
  return [...classes.values()]
    .sort(([a], [b]) => (a && b ? byClass(a.member, b.member) : 0))
    .flatMap((equals) => byZone(equals.sort((a, b) => compare(a.key, b.key))))
}

/** Zone by zone in turn; zones come in the order of their first nodes. */
function byZone<T extends Turn>(equals: readonly Keyed<T>[]): readonly T[] {
  const zones = new Map<string, T[]>()
  for (const { member } of equals) {
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

function byClass(a: Turn, b: Turn): number {
  if (a.role !== b.role) return a.role === 'ControlPlane' ? -1 : 1
  return b.weight - a.weight
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Plain comparison of these puts w2 before w10, and no two names have the same. */
function naturalKey(name: string): string {
  return `${name.replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'))} ${name}`
}

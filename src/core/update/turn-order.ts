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

/** The control plane, then workers: by weight, zone by zone in turn, by name with numbers as numbers. */
export function turnOrder<T extends Turn>(members: Iterable<T>): readonly T[] {
  const keyed = [...members].map((member) => ({ member, key: naturalKey(member.name), round: 0, zone: 0 }))
  keyed.sort((a, b) => byClass(a.member, b.member) || compare(a.key, b.key) || compare(a.member.name, b.member.name))
  const zones = new Map<string, { readonly place: number; size: number }>()
  for (const entry of keyed) {
    const { role, weight, zone: name } = entry.member
    const id = `${role} ${weight} ${name}`
    // Zones come in the order of their first nodes.
    const zone = zones.get(id) ?? { place: zones.size, size: 0 }
    zones.set(id, zone)
    entry.zone = zone.place
    entry.round = zone.size++
  }
  return keyed
    .sort((a, b) => byClass(a.member, b.member) || a.round - b.round || a.zone - b.zone)
    .map(({ member }) => member)
}

function byClass(a: Turn, b: Turn): number {
  if (a.role !== b.role) return a.role === 'ControlPlane' ? -1 : 1
  return b.weight - a.weight
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Plain comparison of these puts w2 before w10. */
function naturalKey(name: string): string {
  return name.replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'))
}

// Which of several wishes for one thing holds: that of the highest priority. Two different ones of the same are a conflict.

import type { Reason } from '../../api/reason.ts'
import { canonicalJson } from '../fingerprint.ts'

export interface Origin {
  readonly profile: string
  readonly whenRemoved: 'Restore' | 'Keep'
}

export interface Wish<T> {
  /** What it is about, in words a person finds again: `file /etc/motd`. */
  readonly item: string
  readonly value: T
  readonly origin: Origin
  readonly priority: number
}

export type Settled<T> =
  | { readonly ok: true; readonly items: readonly (T & Origin)[] }
  | { readonly ok: false; readonly reason: Reason; readonly profiles: readonly string[] }

/** In the order of the items' names, so that equal wishes give equal states. */
export function settle<T extends object>(wishes: readonly Wish<T>[]): Settled<T> {
  const byItem = new Map<string, Wish<T>[]>()
  for (const wish of wishes) byItem.set(wish.item, [...(byItem.get(wish.item) ?? []), wish])
  const items: (T & Origin)[] = []
  for (const [item, rivals] of [...byItem].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const top = Math.max(...rivals.map(({ priority }) => priority))
    const [winner, ...others] = rivals
      .filter(({ priority }) => priority === top)
      .sort((a, b) => (a.origin.profile < b.origin.profile ? -1 : 1))
    if (!winner) continue
    const value = canonicalJson(winner.value)
    const rival = others.find((other) => canonicalJson(other.value) !== value)
    if (rival) return conflict(item, winner, rival)
    items.push({ ...winner.value, ...winner.origin })
  }
  return { ok: true, items }
}

function conflict<T>(item: string, one: Wish<T>, other: Wish<T>): Settled<never> {
  const [a, b] = [one.origin.profile, other.origin.profile]
  const message =
    a === b
      ? `NodeProfile ${a} wants ${item} twice and differently: take one of the two out`
      : `NodeProfiles ${a} and ${b}, both of priority ${one.priority}, want different things of ${item}: give one a higher priority`
  return { ok: false, reason: { code: 'ProfileConflict', message }, profiles: [...new Set([a, b])] }
}

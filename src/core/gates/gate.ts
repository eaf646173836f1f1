// A gate as it is looked at: with a name, a point, and its times in milliseconds.

import type { GatePoint, GateSpec } from '../../api/gate.ts'
import { parseDuration } from '../duration.ts'

export interface Gate {
  /** Unique among the gates of one operation. */
  readonly name: string
  readonly when: GatePoint
  readonly timeoutMs: number
  readonly everyMs: number
  readonly spec: GateSpec
}

/**
 * What one look found. `broken`: looking again will not help before somebody changes something, so nobody waits. `unseen`:
 * there was no look yet, so nothing is known to have become worse.
 */
export type Look = { readonly state: 'holds' } | Shortfall
export type Shortfall = { readonly state: 'fails' | 'unknown' | 'unseen' | 'broken'; readonly message: string }

/** A ClusterRole with this label is added to what the operator may read: for gates on other kinds. */
export const gateRoleLabel = 'slipway.dev/aggregate-to-gates'

const defaults = { timeout: '5m', every: '10s' }

/** The policy's and the update's own; two of one name are told apart by a number. */
export function gatesOf(...lists: readonly (readonly GateSpec[] | undefined)[]): readonly Gate[] {
  const seen = new Map<string, number>()
  return lists
    .flatMap((list) => list ?? [])
    .map((spec) => {
      const base = spec.name ?? spec.type
      const count = (seen.get(base) ?? 0) + 1
      seen.set(base, count)
      return {
        name: count === 1 ? base : `${base}-${count}`,
        when: spec.when ?? (spec.type === 'Job' ? 'AfterNode' : 'BeforeNode'),
        timeoutMs: parseDuration(spec.timeout ?? defaults.timeout),
        everyMs: parseDuration(spec.every ?? defaults.every),
        spec,
      }
    })
}

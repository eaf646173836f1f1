// One silence for one node: what Alertmanager is sent, and how ours are told from those of others.

import { type FoundSilence, matcherPattern, type SilenceSpec } from '../../api/silence.ts'
import { parseDuration } from '../duration.ts'

/** Whose it is: of this cluster, of this entry of the policy, for this node. */
export interface SilenceOwner {
  readonly cluster: string
  readonly entry: string
  readonly node: string
}

const author = 'slipway'
const defaultLapse = '5m'
const leastMs = 60_000

export function lapseMs({ lapseAfter = defaultLapse }: SilenceSpec): number {
  return Math.max(leastMs, parseDuration(lapseAfter))
}

export function entryName({ name = 'silence' }: SilenceSpec): string {
  return name
}

/** One that was set. */
export interface SetSilence {
  readonly id: string
  readonly startsAt: string
}

/** The body of a request that sets it, or prolongs one: Alertmanager takes another beginning for another silence. */
export function silenceBody(spec: SilenceSpec, owner: SilenceOwner, now: Date, known: SetSilence | undefined): string {
  return JSON.stringify({
    matchers: spec.matchers.map((text) => matcherOf(text, owner.node)),
    startsAt: now.toISOString(),
    ...known,
    endsAt: new Date(now.getTime() + lapseMs(spec)).toISOString(),
    createdBy: author,
    comment: `${owner.node} is under work by Slipway ${markOf(owner)}`,
  })
}

/** The owner that a silence names, where it is one of this cluster and still on. */
export function ownerOf({ createdBy, comment, status }: FoundSilence, cluster: string): SilenceOwner | undefined {
  if (createdBy !== author || status.state === 'expired') return undefined
  const [, uid, entry = '', node = ''] = /\[([^ \]]+) ([^ \]]+) ([^ \]]+)\]$/.exec(comment) ?? []
  return uid === cluster ? { cluster, entry, node } : undefined
}

function markOf({ cluster, entry, node }: SilenceOwner): string {
  return `[${cluster} ${entry} ${node}]`
}

const shape = new RegExp(`^${matcherPattern}$`)

function matcherOf(text: string, node: string): object {
  const [, name, operator = '=', value = ''] = shape.exec(text) ?? []
  const isRegex = operator.endsWith('~')
  const inserted = isRegex ? node.replaceAll('.', '\\.') : node
  return { name, value: value.replaceAll('{node}', inserted), isRegex, isEqual: !operator.startsWith('!') }
}

// Which news a receiver still has to be told, and what is kept of what it was told.

import { maxTold, type NewsKind, newsKinds, type Receiver, type ReceiverRecord } from '../../api/notification.ts'
import { type News, stillStands } from './news.ts'

/**
 * An update begins at an instant of the API server's clock, in whole seconds, and may be applied together with the receiver: a little
 * before counts as after.
 */
const slackMs = 60_000

export interface OpenNews {
  /** In the order it happened. */
  readonly open: readonly News[]
  /** How many more there are than a record holds: these are told to nobody. */
  readonly leftOut: number
}

/**
 * What a receiver is to be told, or was: of its kinds, and nothing from before it was named. Never more than its record holds: what
 * falls out of that would be told again and again.
 */
export function openTo({ on }: Receiver, { since }: ReceiverRecord, news: readonly News[]): OpenNews {
  const kinds: ReadonlySet<NewsKind> = new Set(on ?? newsKinds)
  const fromMs = Date.parse(since) - slackMs
  const all = news.filter(({ kind, at }) => kinds.has(kind) && Date.parse(at) >= fromMs)
  // What is over will be gone within the hour; what stands would be told again once there is room for it.
  const held = new Set([...all.filter((one) => !stillStands(one)), ...all.filter(stillStands)].slice(-maxTold))
  const open = all.filter((one) => held.has(one))
  return { open, leftOut: all.length - open.length }
}

export function owedOf({ told }: ReceiverRecord, open: readonly News[]): readonly News[] {
  const known = new Set(told)
  return open.filter(({ key }) => !known.has(key))
}

/** Only what could be told again is remembered. */
export function withTold({ told }: ReceiverRecord, key: string, open: readonly News[]): readonly string[] {
  const keys = new Set(open.map((one) => one.key))
  return [...told.filter((known) => keys.has(known)), key]
}

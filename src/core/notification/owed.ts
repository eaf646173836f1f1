// Which news a receiver still has to be told, and what is kept of what it was told.

import { maxTold, type NewsKind, newsKinds, type Receiver, type ReceiverRecord } from '../../api/notification.ts'
import type { News } from './news.ts'

/**
 * An update begins at an instant of the API server's clock, in whole seconds, and may be applied together with the receiver: a little
 * before counts as after.
 */
const slackMs = 60_000

/** In the order it happened; nothing from before the receiver was named. */
export function owedTo({ on }: Receiver, record: ReceiverRecord, news: readonly News[]): readonly News[] {
  const told = new Set(record.told)
  const kinds: ReadonlySet<NewsKind> = new Set(on ?? newsKinds)
  const fromMs = Date.parse(record.since) - slackMs
  return news.filter(({ kind, key, at }) => kinds.has(kind) && Date.parse(at) >= fromMs && !told.has(key))
}

/** Only what could be told again is remembered. */
export function withTold(record: ReceiverRecord, key: string, news: readonly News[]): readonly string[] {
  const open = new Set(news.map((one) => one.key))
  return [...record.told.filter((known) => open.has(known)), key].slice(-maxTold)
}

// What is sent: a body for programs, or one that Slack and those like it show. What comes from the cluster is text there, and never
// markup or a mention.

import type { Receiver } from '../../api/notification.ts'
import type { News } from './news.ts'

const marks = { Started: '▶', Finished: '✔', ApprovalWanted: '?', Failed: '✖', NodeFailed: '✖' } as const

export function messageBody(news: News, format: NonNullable<Receiver['webhook']['format']>): string {
  if (format === 'Slack') return JSON.stringify({ text: slackText(news) })
  const { key, kind, at, code, message, update, operation, node } = news
  return JSON.stringify({ source: 'slipway', version: 1, id: key, kind, at, code, message, update, operation, node })
}

function slackText({ kind, code, message }: News): string {
  const mark = (marks as Readonly<Record<string, string>>)[kind] ?? '!'
  return `${mark} *${kind}* (${escaped(code)}): ${escaped(message).slice(0, 2500)}`
}

/** As Slack asks for it; so nothing in a name is a link or calls everybody. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '＠')
}

// One question over HTTP and its whole answer, with a limit on time and size.

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { rootCertificates } from 'node:tls'
import { type Answer, cannotReach } from './registry-failure.ts'

export interface Question {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string | undefined
  readonly maxBytes: number
  readonly timeoutMs: number
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as they stand in the environment. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
}

/** Any answer is one, whatever its status; redirects are not followed. */
export async function exchange(question: Question, signal: AbortSignal): Promise<Answer> {
  const { url, timeoutMs } = question
  const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  try {
    const answer = await begun(question, ending)
    const body = await bodyOf(answer, question)
    return { status: answer.statusCode ?? 0, headers: answer.headers, body }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const why = ending.aborted ? `gives no whole answer within ${timeoutMs / 1000} s` : `fails: ${causeOf(error)}`
    throw cannotReach(url, why, { cause: error })
  }
}

/** Each over a connection of its own: they are few and far between. */
function begun({ url, headers, ca, proxyEnv }: Question, signal: AbortSignal): Promise<IncomingMessage> {
  const options = { method: 'GET', signal, headers: { 'user-agent': 'slipway', ...headers } }
  const proxy = proxyEnv && { proxyEnv: { ...proxyEnv } }
  const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, agent: new SecureAgent({ ...proxy, ...trusted }) }, resolve)
        : plainRequest(url, { ...options, agent: new PlainAgent({ ...proxy }) }, resolve)
    sent.once('error', reject)
    sent.end()
  })
}

async function bodyOf(answer: IncomingMessage, { maxBytes }: Question): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxBytes) {
      answer.destroy()
      throw new Error(`its answer is longer than the ${maxBytes} bytes it may have`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** A connection tried at several addresses fails with all of their causes and no message of its own. */
function causeOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(causeOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

// Requests over HTTP/1.1 with the rules of repetition: reads may be repeated, writes only if they certainly had no effect.

import type { IncomingMessage } from 'node:http'
import { isKubeError, KubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeConnection } from '../../ports/kube-connection.ts'
import type { Random } from '../../ports/random.ts'
import { backOffMs } from '../back-off.ts'
import { sleep } from '../sleep.ts'
import { credentialsRefusal, type Failed, refusal, unanswered } from './failure.ts'
import { LineSplitter } from './line-splitter.ts'
import { TimeLimit, TimeLimitPassed } from './time-limit.ts'
import { type Message, type Method, Transport, type Trust } from './transport.ts'

const backOff = { baseMs: 100, maxMs: 5_000 }
/**
 * A write is not sent later than this after it was asked for. The leader's lease is good for longer than that beyond its
 * renew deadline, so a write that was allowed then cannot reach the server after another may have taken over.
 */
const writeWithinMs = 4_000

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'replace' | 'patch' | 'delete' | 'evict' | 'version' | 'read'

export interface RequestRecord {
  readonly verb: Verb
  readonly plural: string
  /** The HTTP status, or 0 where nobody answered. */
  readonly status: number
  readonly ms: number
}

export interface HttpClientOptions {
  readonly connection: KubeConnection
  readonly clock: Clock
  readonly random: Random
  /** `slipway/0.1.0 (operator)` */
  readonly userAgent: string
  readonly onRequest?: (record: RequestRecord) => void
  /** How long one attempt may take. */
  readonly timeoutMs?: number
  /** How long what may be repeated is repeated; 0 = not at all. */
  readonly retryForMs?: number
  /** A watch without a byte for so long is dead. */
  readonly silenceMs?: number
}

export interface Call {
  readonly verb: Verb
  readonly plural: string
  readonly method: Method
  readonly path: string
  readonly body?: string
  readonly contentType?: string
}

/** Success, or a failure with what it means for trying again. */
type Outcome<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Failed)

const answered = { unsent: false, hopeless: false, doubts: [] } as const

type Consume<T> = (answer: IncomingMessage, extend: (ms: number) => void) => Promise<T>

export class HttpClient {
  readonly #options: Required<Omit<HttpClientOptions, 'onRequest'>>
  readonly #onRequest: ((record: RequestRecord) => void) | undefined
  readonly #transport: Transport

  constructor(options: HttpClientOptions) {
    this.#options = { timeoutMs: 30_000, retryForMs: 30_000, silenceMs: 150_000, ...options }
    this.#onRequest = options.onRequest
    this.#transport = new Transport(options.connection)
  }

  /** Ends all requests. */
  close(): Promise<void> {
    return this.#transport.close()
  }

  /** The body of the answer, as JSON. */
  async request(call: Call, signal: AbortSignal): Promise<unknown> {
    const { clock, random, retryForMs } = this.#options
    const isRead = call.method === 'GET'
    const startedMs = clock.monotonicMs()
    const sendBeforeMs = isRead ? Number.POSITIVE_INFINITY : startedMs + writeWithinMs
    const repeatBeforeMs = Math.min(startedMs + retryForMs, sendBeforeMs)
    const renewed = new Set<Trust>()
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#exchange(call, sendBeforeMs, readJson, signal)
      if (outcome.ok) return outcome.value
      const { error, doubts } = outcome
      const stale = doubts.filter((trust) => !renewed.has(trust))
      this.#transport.refused(stale)
      if (stale.length > 0 && (outcome.unsent || isRead || error.code === 'Unauthorized')) {
        for (const trust of stale) renewed.add(trust)
        continue
      }
      const waitMs = Math.max(error.retryAfterMs ?? 0, backOffMs(backOff, attempt, random))
      if (!mayRepeat(call, outcome) || clock.monotonicMs() + waitMs >= repeatBeforeMs) throw error
      await sleep(clock, waitMs, signal)
    }
  }

  /** Calls `onLine` for each line until the server ends the stream; never repeated. */
  async stream(call: Call, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    const { silenceMs } = this.#options
    const { server } = this.#transport
    let mistake: { readonly error: unknown } | undefined
    const guarded = (line: string) => {
      try {
        onLine(line)
      } catch (error) {
        mistake = { error }
        throw error
      }
    }
    const readLines: Consume<void> = async (answer, extend) => {
      const lines = new LineSplitter()
      extend(silenceMs)
      for await (const chunk of answer) {
        extend(silenceMs)
        lines.push(chunk, guarded)
      }
      if (lines.pending) throw new KubeError('Unreachable', `${server} broke off in the middle of an event`)
    }
    const outcome = await this.#exchange(call, Number.POSITIVE_INFINITY, readLines, signal)
    if (outcome.ok) return
    // What the receiver threw is its own failure, not the server's.
    if (mistake !== undefined) throw mistake.error
    const { error, doubts } = outcome
    this.#transport.refused(doubts)
    if (error.code === 'Timeout' && error.status === 0) {
      throw new KubeError('Unreachable', `nothing heard from ${server} for too long`, { cause: error })
    }
    throw error
  }

  /** One attempt. Throws only what is no failure of the request: an abort, or credentials that cannot be had. */
  async #exchange<T>(call: Call, sendBeforeMs: number, consume: Consume<T>, signal: AbortSignal): Promise<Outcome<T>> {
    const { clock, timeoutMs } = this.#options
    signal.throwIfAborted()
    const limit = new TimeLimit(clock, timeoutMs, signal)
    const startedMs = clock.monotonicMs()
    let status = 0
    let sent = false
    const beforeSending = () => {
      if (clock.monotonicMs() > sendBeforeMs) return tooLate()
      sent = true
      return undefined
    }
    try {
      const answer = await this.#transport.send({ ...this.#message(call), beforeSending }, limit.signal)
      status = answer.statusCode ?? 0
      if (status >= 300) {
        const [path = ''] = call.path.split('?')
        const error = refusal(path, status, await readText(answer), answer.headers['retry-after'])
        if (error.code !== 'Unauthorized') return { ok: false, error, ...answered }
        const refused = credentialsRefusal(error, this.#transport.certificate, clock.now())
        return { ok: false, error: refused, ...answered, doubts: ['credentials'] }
      }
      return { ok: true, value: await consume(answer, (ms) => limit.extend(ms)) }
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      if (cause instanceof SlipwayError) throw cause
      if (cause instanceof KubeError) return { ok: false, error: cause, ...answered }
      const { server } = this.#transport
      return { ok: false, ...unanswered(limit.passed ? new TimeLimitPassed() : cause, server, sent) }
    } finally {
      limit.end()
      this.#onRequest?.({ verb: call.verb, plural: call.plural, status, ms: clock.monotonicMs() - startedMs })
    }
  }

  #message(call: Call): Omit<Message, 'beforeSending'> {
    const { method, path, body, contentType = 'application/json' } = call
    const headers = { accept: 'application/json', 'user-agent': this.#options.userAgent }
    return {
      method,
      path,
      body,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': contentType }) },
    }
  }
}

function tooLate(): KubeError {
  return new KubeError('Timeout', 'the write was not sent: it would have come too late')
}

function mayRepeat(call: Call, outcome: Failed): boolean {
  const { error, unsent, hopeless } = outcome
  if (hopeless) return false
  if (unsent) return true
  // Flow control turns a request away before anything is done; for an eviction it is the answer of a budget.
  if (error.code === 'TooManyRequests') return call.verb !== 'evict' && error.retryAfterMs !== undefined
  return call.method === 'GET' && isKubeError(error, 'ServerError', 'Unreachable', 'Timeout')
}

async function readJson(answer: IncomingMessage): Promise<unknown> {
  const body = await readText(answer)
  try {
    return JSON.parse(body)
  } catch (cause) {
    const status = answer.statusCode ?? 0
    throw new KubeError('ServerError', `the server answered ${status} with something that is not JSON`, {
      status,
      cause,
    })
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

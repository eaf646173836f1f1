// Requests to one bucket: signed or with a token, tried again while that may help.

import { createHash } from 'node:crypto'
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { createSecureContext, rootCertificates } from 'node:tls'
import type { Clock } from '../../../ports/clock.ts'
import type { Random } from '../../../ports/random.ts'
import { possibleSum, type SumKind, sumHeaders } from './body-sum.ts'
import { errorOfAnswer, errorOfSilence, isPassing } from './bucket-errors.ts'
import { encodedPart, type SigningKeys, signedHeaders } from './signature.ts'

export type BucketCredentials = { readonly keys: SigningKeys } | { readonly token: string }

export interface BucketSettings {
  readonly bucket: string
  readonly endpoint: URL
  /** Whether the bucket's name is part of the host's name. */
  readonly virtualHost: boolean
  readonly region: string
  /** A certificate authority besides the well-known ones, PEM. */
  readonly ca?: string | undefined
  readonly credentials: BucketCredentials
}

export interface BucketTools {
  readonly clock: Clock
  readonly random: Random
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as they stand in the environment. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
  /** How long the server may stay silent. */
  readonly silenceMs?: number
  readonly attempts?: number
  /** By which what is stored is told to be whole; absent = what this machine can make. */
  readonly sum?: SumKind
}

export interface BucketRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** What is being done, for people. */
  readonly what: string
  /** Answers besides 2xx that are no error. */
  readonly accepted?: readonly number[]
}

export interface BucketAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Which try it was an answer to. */
  readonly attempt: number
}

const backOff = { baseMs: 500, maxMs: 15_000 }
const defaultAttempts = 6
const defaultSilenceMs = 60_000
const maxAnswerBytes = 4 * 1024 * 1024
const pieceBytes = 64 * 1024

export class BucketClient {
  /** Undefined where none is sent: who comes with a token speaks to Google, which knows nothing of S3's own sums. */
  readonly sum: SumKind | undefined
  readonly #settings: BucketSettings
  readonly #tools: BucketTools
  readonly #plain: PlainAgent
  readonly #secure: SecureAgent

  constructor(settings: BucketSettings, tools: BucketTools) {
    const { ca } = settings
    const options = { keepAlive: true, ...(tools.proxyEnv && { proxyEnv: { ...tools.proxyEnv } }) }
    this.#settings = settings
    this.#tools = tools
    const sum = tools.sum ?? possibleSum()
    this.sum = sum === 'sha256' && 'token' in settings.credentials ? undefined : sum
    this.#plain = new PlainAgent(options)
    // Read once: a server may close after each part, and some megabytes of certificates for each connection wait long to be cleared away.
    const trusted = ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, ca] }) }
    this.#secure = new SecureAgent({ ...options, ...trusted })
  }

  /** The whole answer, a small one. Throws StoreRefused or, after the last try, StoreUnreachable. */
  send(request: BucketRequest, signal: AbortSignal): Promise<BucketAnswer> {
    return this.#again(
      async (attempt) => {
        const answer = await this.#begin(request, signal)
        const body = await textOf(answer, maxAnswerBytes)
        return { status: answer.statusCode ?? 0, headers: answer.headers, body, attempt }
      },
      request,
      signal,
    )
  }

  /** An object as it comes; undefined where there is none. What breaks off later throws StoreUnreachable from the stream. */
  async open(request: BucketRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { status, stream, body } = await this.#again(
      async () => {
        const answer = await this.#begin(request, signal)
        const found = answer.statusCode ?? 0
        return found === 200
          ? { status: found, stream: answer, body: '' }
          : { status: found, stream: undefined, body: await textOf(answer, maxAnswerBytes) }
      },
      { ...request, accepted: [404] },
      signal,
    )
    if (status === 404) {
      // A missing bucket is no missing object.
      if (body.includes('NoSuchBucket')) throw errorOfAnswer(this.#place(request), request.what, { status, body })
      return undefined
    }
    return stream && whole(stream, (error) => errorOfSilence(this.#place(request), request.what, error), signal)
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }

  async #again<T extends { readonly status: number; readonly body: string }>(
    once: (attempt: number) => Promise<T>,
    request: BucketRequest,
    signal: AbortSignal,
  ): Promise<T> {
    const { attempts = defaultAttempts } = this.#tools
    for (let attempt = 1; ; attempt++) {
      const outcome = await once(attempt).catch((error: unknown) => {
        signal.throwIfAborted()
        return errorOfSilence(this.#place(request), request.what, error)
      })
      if (!(outcome instanceof Error)) {
        const { status } = outcome
        if ((status >= 200 && status < 300) || request.accepted?.includes(status)) return outcome
      }
      const passing = outcome instanceof Error ? outcome.code === 'StoreUnreachable' : isPassing(outcome)
      if (!passing || attempt >= attempts) {
        throw outcome instanceof Error ? outcome : errorOfAnswer(this.#place(request), request.what, outcome)
      }
      await this.#wait(attempt, signal)
    }
  }

  /** Doubling, capped, and spread, so that those who failed together do not come back together. */
  #wait(failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#tools
    const ms = Math.min(backOff.maxMs, backOff.baseMs * 2 ** (failures - 1)) * (0.5 + random.next() / 2)
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        cancel()
        reject(signal.reason)
      }
      const cancel = clock.after(ms, () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #begin(request: BucketRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const url = this.#url(request)
    const { method, body } = request
    const { silenceMs = defaultSilenceMs } = this.#tools
    return new Promise((resolve, reject) => {
      const headers = this.#headers(request, url)
      const options = { method, headers, signal }
      const asking =
        url.protocol === 'https:'
          ? secureRequest(url, { ...options, agent: this.#secure }, resolve)
          : plainRequest(url, { ...options, agent: this.#plain }, resolve)
      asking.setTimeout(silenceMs, () => asking.destroy(new Error(`it stays silent for ${silenceMs / 1000} s`)))
      asking.on('error', reject)
      sendInPieces(asking, body ?? new Uint8Array())
    })
  }

  #headers({ method, body, headers: more }: BucketRequest, url: URL): Readonly<Record<string, string>> {
    const { credentials, region } = this.#settings
    const headers = {
      'user-agent': 'slipway',
      ...more,
      ...(method === 'PUT' && body !== undefined && this.sum !== undefined && sumHeaders(this.sum, body)),
      ...((body !== undefined || method === 'PUT' || method === 'POST') && {
        'content-length': String(body?.length ?? 0),
      }),
    }
    if ('token' in credentials) return { ...headers, host: url.host, authorization: `Bearer ${credentials.token}` }
    const bodySum = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const signing = { keys: credentials.keys, region, now: this.#tools.clock.now() }
    return signedHeaders({ method, url, headers, bodySum }, signing)
  }

  #url({ key, query = {} }: BucketRequest): URL {
    const { endpoint, bucket, virtualHost } = this.#settings
    const url = new URL(endpoint)
    const parts = [...(virtualHost ? [] : [bucket]), ...key.split('/')]
    if (virtualHost) url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${endpoint.pathname.replace(/\/+$/, '')}/${parts.map(encodedPart).join('/')}`
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodedPart(name)}=${encodedPart(value)}`)
      .join('&')
    return url
  }

  #place({ key }: BucketRequest): string {
    const { bucket, endpoint } = this.#settings
    return `${bucket}${key === '' ? '' : `/${key}`} at ${endpoint.host}`
  }
}

/** Each when the one before has gone: TLS keeps a sealed copy of all that it is given at once. */
function sendInPieces(asking: ClientRequest, body: Uint8Array): void {
  let at = 0
  const send = () => {
    while (at < body.length) {
      const piece = body.subarray(at, at + pieceBytes)
      at += piece.length
      if (!asking.write(piece)) {
        asking.once('drain', send)
        return
      }
    }
    asking.end()
  }
  send()
}

async function textOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer) {
    bytes += (part as Buffer).length
    if (bytes > maxBytes) throw new Error(`its answer has more than ${maxBytes} bytes`)
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts).toString('utf8')
}

async function* whole(
  stream: IncomingMessage,
  named: (error: unknown) => Error,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream as AsyncIterable<Uint8Array>
  } catch (error) {
    signal.throwIfAborted()
    throw named(error)
  } finally {
    stream.destroy()
  }
}

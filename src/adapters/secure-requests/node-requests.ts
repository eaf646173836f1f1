import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { SecureRequest, SecureRequests, SecureStreams } from '../../ports/secure-requests.ts'

const maxBytes = 1024 * 1024

/** Never through a proxy: what is asked is this host, or a member that it talks to straight. */
export const nodeRequests: SecureRequests = {
  send: async (request, signal) => {
    const ending = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)])
    try {
      const answer = await begun(request, ending)
      return { status: answer.statusCode ?? 0, body: await bodyOf(answer) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const cause = ending.aborted ? `no answer within ${request.timeoutMs / 1000} s` : messageOf(error)
      throw new SlipwayError('CannotReach', `${request.url} does not answer: ${cause}`, { cause: error })
    }
  },
}

/** The same for answers that are long: only silence has a limit. While nobody asks for the next piece, nobody waits for the server. */
export const nodeStreams: SecureStreams = {
  open: async (request, signal) => {
    const silence = new AbortController()
    const named = (error: unknown) => {
      if (signal.aborted) throw signal.reason
      const cause = messageOf(silence.signal.aborted ? silence.signal.reason : error)
      return new SlipwayError('CannotReach', `${request.url} does not answer: ${cause}`, { cause: error })
    }
    const fromServer: WaitForServer = async (wait) => {
      const seconds = request.timeoutMs / 1000
      const tooLong = () => silence.abort(new Error(`it stays silent for ${seconds} s`))
      const timer = setTimeout(tooLong, request.timeoutMs)
      try {
        return await wait()
      } catch (error) {
        throw named(error)
      } finally {
        clearTimeout(timer)
      }
    }
    const answer = await fromServer(() => begun(request, AbortSignal.any([signal, silence.signal])))
    return { status: answer.statusCode ?? 0, body: streamed(answer, fromServer) }
  },
}

/** Waits for something of the server, as long as it may stay silent. */
type WaitForServer = <T>(wait: () => Promise<T>) => Promise<T>

async function* streamed(answer: IncomingMessage, fromServer: WaitForServer): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = answer[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await fromServer(() => pieces.next())
      if (next.done) return
      yield next.value
    }
  } finally {
    answer.destroy()
  }
}

function begun(
  { method, url, body, credentials, socketPath }: SecureRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { ca, certificate: cert, key } = credentials
  const options: RequestOptions = {
    method,
    signal,
    agent: false,
    ...(socketPath !== undefined && { socketPath }),
    headers: { 'user-agent': 'slipway', ...(body !== undefined && { 'content-type': 'application/json' }) },
  }
  return new Promise((resolve, reject) => {
    const secure = url.startsWith('https:')
    const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
    const asking = secure ? secureRequest(url, { ...options, ...tls }, resolve) : plainRequest(url, options, resolve)
    asking.on('error', reject)
    asking.end(body)
  })
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer) {
    parts.push(part as Buffer)
    bytes += (part as Buffer).length
    if (bytes > maxBytes) break
  }
  answer.destroy()
  return Buffer.concat(parts).toString('utf8').slice(0, maxBytes)
}

/** A connection tried at several addresses fails with all of their causes and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

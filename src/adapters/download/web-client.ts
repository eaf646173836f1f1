import { type IncomingMessage, Agent as PlainAgent, get as plainGet } from 'node:http'
import { Agent as SecureAgent, get as secureGet } from 'node:https'
import { SlipwayError } from '../../api/slipway-error.ts'

export interface WebClientOptions {
  /** Certificate authorities besides the well-known ones, PEM. */
  readonly ca?: readonly string[]
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as they stand in the environment. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
  /** How long a server may stay silent. */
  readonly silenceMs?: number
}

const maxRedirects = 5
const defaultSilenceMs = 60_000
const redirects = new Set([301, 302, 303, 307, 308])

/** GET and nothing else; follows redirects, but never from https to http. */
export class WebClient {
  readonly #plain: PlainAgent
  readonly #secure: SecureAgent
  readonly #silenceMs: number

  constructor({ ca, proxyEnv, silenceMs = defaultSilenceMs }: WebClientOptions) {
    const proxy = proxyEnv && { proxyEnv: { ...proxyEnv } }
    this.#plain = new PlainAgent({ ...proxy })
    this.#secure = new SecureAgent({ ...proxy, ...(ca && { ca: [...ca] }) })
    this.#silenceMs = silenceMs
  }

  /** The answer with its body unread, whatever its status; throws StagingFailed when none comes. */
  async get(url: string, signal: AbortSignal): Promise<IncomingMessage> {
    let at = new URL(url)
    for (let redirect = 0; ; redirect++) {
      const answer = await this.#once(at, signal)
      const { location } = answer.headers
      if (!redirects.has(answer.statusCode ?? 0) || location === undefined) return answer
      answer.destroy()
      const next = new URL(location, at)
      if (redirect === maxRedirects) throw noAnswer(url, `is redirected more than ${maxRedirects} times`)
      if (next.protocol !== 'https:' && (at.protocol === 'https:' || next.protocol !== 'http:')) {
        throw noAnswer(url, `is redirected from ${at.protocol}// to ${next.protocol}//`)
      }
      at = next
    }
  }

  #once(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const options = { signal, headers: { accept: '*/*', 'user-agent': 'slipway' } }
      const request =
        url.protocol === 'https:'
          ? secureGet(url, { ...options, agent: this.#secure }, resolve)
          : plainGet(url, { ...options, agent: this.#plain }, resolve)
      request.setTimeout(this.#silenceMs, () => request.destroy(new Error('the server stays silent')))
      request.once('error', (error) => {
        reject(signal.aborted ? signal.reason : noAnswer(url.href, `cannot be fetched: ${error.message}`, error))
      })
    })
  }
}

function noAnswer(url: string, what: string, cause?: unknown): SlipwayError {
  return new SlipwayError('StagingFailed', `${url} ${what}`, {
    nextStep: 'look at the address, the network and the server; it is tried again',
    cause,
  })
}

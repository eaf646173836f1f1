// One place that holds repositories, asked for one of them: it says what it wants to see, and is asked again with that. Credentials go
// to the server they are meant for, and to the one it names for tokens; a redirect to anywhere else goes without.

import { z } from 'zod'
import { jsonOf } from '../../core/json-text.ts'
import type { RegistryCredentials } from '../../ports/registry.ts'
import { type Challenge, readChallenge } from './challenge.ts'
import { exchange } from './exchange.ts'
import { type Answer, cannotReach, failureOf, refused } from './registry-failure.ts'

export interface Place extends RegistryCredentials {
  /** …/v2/ and, for some mirrors, a folder. */
  readonly base: URL
}

export interface Found {
  readonly url: URL
  readonly answer: Answer
}

export interface Limits {
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as they stand in the environment. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
  readonly maxBytes: number
}

const maxRedirects = 5
const redirects = new Set([301, 302, 303, 307, 308])
const tokenBytes = 256 * 1024

const tokenSchema = z.object({ token: z.string().min(1).optional(), access_token: z.string().min(1).optional() })

export class RegistrySession {
  readonly #place: Place
  readonly #repository: string
  readonly #limits: Limits
  #authorization: string | undefined

  constructor(place: Place, repository: string, limits: Limits) {
    this.#place = place
    this.#repository = repository
    this.#limits = limits
  }

  /** The whole answer; throws for any other than 200. `path`: below the repository, or the address of a further page. */
  async get(path: string | URL, accept: string, signal: AbortSignal): Promise<Found> {
    const url = path instanceof URL ? path : new URL(`${this.#repository}/${path}`, this.#place.base)
    const first = await this.#follow(url, accept, signal)
    if (first.answer.status === 200) return first
    const { status, headers } = first.answer
    if (status !== 401 || first.url.origin !== this.#place.base.origin) throw this.#failure(first)
    const challenge = readChallenge(headers['www-authenticate'] ?? '')
    const authorization = challenge && (await this.#meet(challenge, url, signal))
    if (authorization === undefined) throw this.#failure(first)
    this.#authorization = authorization
    const second = await this.#follow(url, accept, signal)
    if (second.answer.status !== 200) throw this.#failure(second)
    return second
  }

  #failure({ url, answer }: Found): Error {
    return failureOf(url, answer, this.#password !== undefined)
  }

  get #password(): string | undefined {
    const { username, password } = this.#place
    return username === undefined || password === undefined
      ? undefined
      : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  }

  async #follow(start: URL, accept: string, signal: AbortSignal): Promise<Found> {
    let url = start
    for (let redirect = 0; ; redirect++) {
      const isOurs = url.origin === this.#place.base.origin
      const headers = { accept, ...(isOurs && this.#authorization && { authorization: this.#authorization }) }
      const answer = await this.#ask(url, headers, this.#limits.maxBytes, signal)
      const { location } = answer.headers
      if (!redirects.has(answer.status) || location === undefined) return { url, answer }
      const next = URL.parse(location, url.href)
      if (!next || redirect === maxRedirects) throw cannotReach(start, `is redirected more than ${maxRedirects} times`)
      const stays = next.protocol === url.protocol || next.protocol === 'https:'
      if (!stays) throw refused(start, `is redirected from ${url.protocol}// to ${next.protocol}//`, insecure)
      url = next
    }
  }

  #ask(url: URL, headers: Readonly<Record<string, string>>, maxBytes: number, signal: AbortSignal): Promise<Answer> {
    const isOurs = url.origin === this.#place.base.origin
    // The token server of a registry with its own authority usually has it too; others are known by the well-known ones as well.
    return exchange({ ...this.#limits, url, headers, ca: this.#place.ca, maxBytes }, signal).catch((error: unknown) => {
      if (isOurs || signal.aborted || !(error instanceof Error)) throw error
      throw cannotReach(this.#place.base, `sends us on, but ${error.message}`, { cause: error })
    })
  }

  /** What to send along; undefined where we have nothing to show. */
  async #meet(challenge: Challenge, asked: URL, signal: AbortSignal): Promise<string | undefined> {
    if (challenge.scheme === 'basic') return this.#password
    const url = URL.parse(challenge.realm, asked.href)
    if (!url || (url.protocol !== 'https:' && url.protocol !== this.#place.base.protocol)) {
      throw refused(asked, 'wants a token from a server that is not asked over https', insecure)
    }
    if (challenge.service !== undefined) url.searchParams.set('service', challenge.service)
    url.searchParams.set('scope', challenge.scope ?? `repository:${this.#repository}:pull`)
    const headers = { accept: 'application/json', ...(this.#password && { authorization: this.#password }) }
    const answer = await this.#ask(url, headers, tokenBytes, signal)
    if (answer.status !== 200) throw failureOf(url, answer, this.#password !== undefined)
    const parsed = tokenSchema.safeParse(jsonOf(answer.body.toString('utf8')))
    const token = parsed.success ? (parsed.data.token ?? parsed.data.access_token) : undefined
    if (token === undefined) throw cannotReach(url, 'answers without a token')
    return `Bearer ${token}`
  }
}

const insecure = 'serve it over https, or say plain: true in spec.registries of MaintenancePolicy/default'

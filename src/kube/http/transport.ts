import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { KubeConnection, KubeCredential } from '../../ports/kube-connection.ts'
import { dial, hostOf, proxyAuthorization, type ServerTls } from './dial.ts'

/** Shorter than the API server keeps idle connections (90 s), so that we never write into one it is closing. */
const keepAliveMs = 45_000

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Message {
  readonly method: Method
  /** Below the server's address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** The connection stands and the next thing is the first byte. With an error the request ends there, unsent. */
  readonly beforeSending: () => Error | undefined
}

type Pair = KubeCredential['certificate']

/** What both sides show and believe; others renew it while we run. */
export type Trust = 'authority' | 'credentials'

/** Keeps the connections to one API server, and replaces them when the client certificate or the server's authority changes. */
export class Transport {
  readonly #connection: KubeConnection
  readonly #server: URL
  readonly #proxy: URL | undefined
  /** What goes before the path: where the API is below one, and all of the address where a plain proxy must know it. */
  readonly #pathPrefix: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #running = new Set<ClientRequest>()
  readonly #closing = new AbortController()
  #open: { readonly agent: Agent; readonly pair: Pair; readonly authority: string | undefined } | undefined

  constructor(connection: KubeConnection) {
    this.#connection = connection
    this.#server = new URL(connection.server)
    this.#proxy = connection.proxyUrl === undefined ? undefined : new URL(connection.proxyUrl)
    const { protocol, origin, pathname, host } = this.#server
    const viaPlainProxy = this.#proxy !== undefined && protocol === 'http:' ? this.#proxy : undefined
    this.#pathPrefix = (viaPlainProxy ? origin : '') + pathname.replace(/\/+$/, '')
    this.#headers = { host, ...(viaPlainProxy && proxyAuthorization(viaPlainProxy)) }
  }

  get server(): string {
    return this.#connection.server
  }

  /** The client certificate of the present connections, PEM. */
  get certificate(): string | undefined {
    return this.#open?.pair?.certificate
  }

  /** Resolves when the answer begins; its body is read as fast as the reader takes it. The signal ends both. */
  async send(message: Message, signal: AbortSignal): Promise<IncomingMessage> {
    const { authorization, certificate } = await this.#connection.credentials.current(signal)
    const authority = await this.#connection.authority?.current(signal)
    signal.throwIfAborted()
    if (this.#closing.signal.aborted) throw new Error('the client is closed')
    const { method, body, beforeSending } = message
    const sending = request({
      agent: this.#agentFor(certificate, authority),
      method,
      path: `${this.#pathPrefix}${message.path}`,
      headers: {
        ...this.#headers,
        ...message.headers,
        ...(authorization === undefined ? {} : { authorization }),
        // Node leaves it out for a DELETE.
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      signal,
    })
    this.#running.add(sending)
    return new Promise((resolve, reject) => {
      // Node tells an aborted request only when it gets its connection; nobody should wait for that.
      const onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      sending.once('close', () => {
        this.#running.delete(sending)
        signal.removeEventListener('abort', onAbort)
      })
      // Stays on: what breaks after the answer has begun is told to the reader of its body.
      sending.on('error', reject)
      sending.once('response', resolve)
      sending.once('socket', (socket) => {
        const objection = socket.destroyed ? new Error('the idle connection has just been closed') : beforeSending()
        if (objection === undefined) sending.end(body)
        else sending.destroy(objection)
      })
    })
  }

  /** These did not hold; the next request gets them afresh. */
  refused(trusts: readonly Trust[]): void {
    for (const trust of trusts) this.#connection[trust]?.refused()
  }

  /** Ends all requests and connections. */
  async close(): Promise<void> {
    this.#closing.abort()
    const running = [...this.#running]
    const ended = running.map((sending) => new Promise((resolve) => sending.once('close', resolve)))
    for (const sending of running) sending.destroy(new Error('the client is closed'))
    if (this.#open) retire(this.#open.agent)
    this.#open = undefined
    await Promise.all(ended)
  }

  #agentFor(pair: Pair, authority: string | undefined): Agent {
    const open = this.#open
    if (open !== undefined && open.authority === authority && isSamePair(open.pair, pair)) return open.agent
    const agent = this.#newAgent(this.#tls(pair, authority))
    if (open) retire(open.agent)
    this.#open = { agent, pair, authority }
    return agent
  }

  /** Without a limit on connections: a watch holds one for as long as it lasts, and a write must not wait for that. */
  #newAgent(tls: ServerTls | undefined): Agent {
    const way = { server: this.#server, proxy: this.#proxy, tls }
    // The agent gets only connections that stand, so what fails before a request has one was certainly not sent.
    const createConnection = (_options: unknown, created: (error: Error | null, socket?: Socket) => void) => {
      dial(way, this.#closing.signal).then((socket) => created(null, socket), created)
    }
    return Object.assign(new Agent({ keepAlive: true, scheduling: 'lifo', timeout: keepAliveMs }), { createConnection })
  }

  #tls(pair: Pair, authority: string | undefined): ServerTls | undefined {
    if (this.#server.protocol !== 'https:') return undefined
    const { insecureSkipTlsVerify, tlsServerName } = this.#connection
    return {
      // One for all connections: the authorities are read once and kept once.
      context: createSecureContext({
        ...(authority === undefined ? {} : { ca: authority }),
        ...(pair === undefined ? {} : { cert: pair.certificate, key: pair.key }),
      }),
      name: tlsServerName ?? hostOf(this.#server),
      verify: insecureSkipTlsVerify !== true,
    }
  }
}

/** Idle connections are closed; requests on the others run to their end, and then those are closed too. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}

function isSamePair(a: Pair, b: Pair): boolean {
  return a === b || (a !== undefined && b !== undefined && a.certificate === b.certificate && a.key === b.key)
}

import { type Dispatcher, Pool, ProxyAgent } from 'undici'
import type { KubeConnection, KubeCredential } from '../../ports/kube-connection.ts'

const connectTimeoutMs = 10_000
/** Shorter than the API server keeps idle connections (90 s), so that we never write into one it is closing. */
const keepAliveMs = 45_000

export interface Route {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly basePath: string
  readonly authorization: string | undefined
}

/** Keeps the connections to one API server, and replaces them when the client certificate changes. */
export class Transport {
  readonly #connection: KubeConnection
  readonly #origin: string
  readonly #basePath: string
  #open: { readonly dispatcher: Dispatcher; readonly certificate: KubeCredential['certificate'] } | undefined
  #closed = false

  constructor(connection: KubeConnection) {
    const url = new URL(connection.server)
    this.#connection = connection
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/+$/, '')
  }

  get server(): string {
    return this.#connection.server
  }

  async route(signal: AbortSignal): Promise<Route> {
    const credential = await this.#connection.credentials.current(signal)
    if (this.#closed) throw new Error('the client is closed')
    if (this.#open === undefined || !isSamePair(this.#open.certificate, credential.certificate)) {
      // Requests on the old connections run to their end.
      void this.#open?.dispatcher.close()
      this.#open = { dispatcher: this.#connect(credential.certificate), certificate: credential.certificate }
    }
    const { dispatcher } = this.#open
    return { dispatcher, origin: this.#origin, basePath: this.#basePath, authorization: credential.authorization }
  }

  refused(): void {
    this.#connection.credentials.refused()
  }

  /** Ends all requests and connections. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#open?.dispatcher.destroy()
    this.#open = undefined
  }

  #connect(pair: KubeCredential['certificate']): Dispatcher {
    const { authority, insecureSkipTlsVerify, tlsServerName, proxyUrl } = this.#connection
    const tls = {
      timeout: connectTimeoutMs,
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      ...(authority === undefined ? {} : { ca: authority }),
      ...(pair === undefined ? {} : { cert: pair.certificate, key: pair.key }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    }
    const options = { allowH2: false, pipelining: 1, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs }
    return proxyUrl === undefined
      ? new Pool(this.#origin, { ...options, connect: tls })
      : new ProxyAgent({
          ...options,
          uri: proxyUrl,
          requestTls: { ...tls, allowH2: false },
          proxyTls: { timeout: connectTimeoutMs },
        })
  }
}

function isSamePair(a: KubeCredential['certificate'], b: KubeCredential['certificate']): boolean {
  return a === b || (a !== undefined && b !== undefined && a.certificate === b.certificate && a.key === b.key)
}

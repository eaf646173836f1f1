// The way to the server's socket: straight or through a proxy, with TLS where the address says so.

import { request } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { type SecureContext, connect as startTls } from 'node:tls'

const connectTimeoutMs = 10_000

/** How the server shows who it is, and what is shown to it. */
export interface ServerTls {
  readonly context: SecureContext
  /** The name its certificate must be for. */
  readonly name: string
  readonly verify: boolean
}

export interface Way {
  readonly server: URL
  readonly proxy: URL | undefined
  readonly tls: ServerTls | undefined
}

export class ConnectTimedOut extends Error {
  readonly code = 'CONNECT_TIMED_OUT'

  constructor(host: string) {
    super(`no connection to ${host} within ${connectTimeoutMs / 1_000} s`)
    this.name = 'ConnectTimedOut'
  }
}

/** A connection on which HTTP can be spoken at once. */
export async function dial({ server, proxy, tls }: Way, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const first = proxy ?? server
  let socket = connect({ host: hostOf(first), port: portOf(first), noDelay: true })
  const giveUp = (error: Error) => socket.destroy(error)
  const onAbort = () => giveUp(new Error('the client is closed'))
  const timer = setTimeout(() => giveUp(new ConnectTimedOut(first.host)), connectTimeoutMs)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await standing(socket, 'connect')
    if (proxy?.protocol === 'https:') {
      // A proxy is trusted as any site is: the cluster's authority and our certificate are not for it.
      socket = startTls({ socket, ...nameOptions(hostOf(proxy)) })
      await standing(socket, 'secureConnect')
    }
    if (tls !== undefined) {
      if (proxy !== undefined) await openTunnel(socket, server, proxy)
      const { context: secureContext, verify: rejectUnauthorized } = tls
      socket = startTls({ socket, secureContext, rejectUnauthorized, ...nameOptions(tls.name) })
      await standing(socket, 'secureConnect')
    }
    if (socket.destroyed) throw socket.errored ?? new Error(`${first.host} closed the connection at once`)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Without the brackets around an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

export function proxyAuthorization({ username, password }: URL): { readonly 'proxy-authorization'?: string } {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** The name is checked against the certificate; it is sent ahead (SNI) only if it is no address, as TLS demands. */
function nameOptions(name: string) {
  return isIP(name) === 0 ? { host: name, servername: name } : { host: name }
}

function standing(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    // Stays on: between two stages nobody else listens, and an error without a listener ends the process.
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed while it came about')))
  })
}

function openTunnel(socket: Socket, server: URL, proxy: URL): Promise<void> {
  const target = `${server.hostname}:${portOf(server)}`
  return new Promise((resolve, reject) => {
    const headers = { host: target, ...proxyAuthorization(proxy) }
    const asking = request({ method: 'CONNECT', path: target, headers, createConnection: () => socket })
    asking.once('error', reject)
    asking.once('connect', (answer, _socket, head) => {
      if (answer.statusCode !== 200) {
        reject(new Error(`the proxy ${proxy.host} answered ${answer.statusCode} when asked for ${target}`))
        return
      }
      if (head.length > 0) socket.unshift(head)
      resolve()
    })
    asking.end()
  })
}

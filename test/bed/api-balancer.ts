// A load balancer for control planes. It asks each API server whether it is ready: one whose own etcd member is away still
// accepts connections and lets them hang. So its sessions are ended, too, as such balancers are set up to do: a kubelet keeps
// its one connection for as long as it lives, and would count as gone.

import { get } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'

export interface ApiBalancer {
  stop(): Promise<void>
}

interface Backend {
  readonly host: string
  /** How often in a row it did not say that it is ready. */
  missed: number
  readonly sessions: Set<Socket>
}

const port = 6443
const askEveryMs = 1_000
const answerWithinMs = 1_500
/** One slow answer is no outage. */
const missedAtMost = 2
const connectWithinMs = 1_000

export async function startApiBalancer(address: string, hosts: readonly string[]): Promise<ApiBalancer> {
  const backends: readonly Backend[] = hosts.map((host) => ({ host, missed: missedAtMost, sessions: new Set() }))
  const clients = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    clients.add(client.on('error', () => client.destroy()).on('close', () => clients.delete(client)))
    const ready = backends.filter(({ missed }) => missed === 0)
    const list = ready.length > 0 ? ready : backends
    turn += 1
    join(client, [...list.slice(turn % list.length), ...list.slice(0, turn % list.length)])
  })
  const timer = setInterval(() => backends.forEach(ask), askEveryMs)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
  return {
    stop: async () => {
      clearInterval(timer)
      for (const client of clients) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function ask(backend: Backend): void {
  const request = get(
    {
      host: backend.host,
      port,
      path: '/readyz',
      // Each cluster has its own authority, and nothing secret is said here.
      rejectUnauthorized: false,
      timeout: answerWithinMs,
      agent: false,
    },
    (answer) => {
      answer.resume()
      if (answer.statusCode === 200) backend.missed = 0
      else miss(backend)
    },
  )
  request.on('timeout', () => request.destroy(new Error('slow')))
  request.on('error', () => miss(backend))
}

function miss(backend: Backend): void {
  backend.missed += 1
  if (backend.missed === missedAtMost) for (const session of backend.sessions) session.destroy()
}

/** The first backend that takes the connection gets it. */
function join(client: Socket, [backend, ...others]: readonly Backend[]): void {
  if (backend === undefined) {
    client.destroy()
    return
  }
  const server = connect(port, backend.host)
  const timer = setTimeout(() => server.destroy(new Error('slow')), connectWithinMs)
  server.once('error', () => {
    clearTimeout(timer)
    join(client, others)
  })
  server.once('connect', () => {
    clearTimeout(timer)
    server.removeAllListeners('error').on('error', () => client.destroy())
    backend.sessions.add(server)
    client.on('close', () => server.destroy())
    server.on('close', () => {
      backend.sessions.delete(server)
      client.destroy()
    })
    client.pipe(server).pipe(client)
  })
}

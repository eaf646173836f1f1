// A load balancer for control planes. It asks each API server whether it is ready: one whose own etcd member is away still
// accepts connections and lets them hang.

import { get } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'

export interface ApiBalancer {
  stop(): Promise<void>
}

interface Backend {
  readonly host: string
  isReady: boolean
}

const port = 6443
const askEveryMs = 1_000
const answerWithinMs = 1_500
const connectWithinMs = 1_000

export async function startApiBalancer(address: string, hosts: readonly string[]): Promise<ApiBalancer> {
  const backends: readonly Backend[] = hosts.map((host) => ({ host, isReady: false }))
  const clients = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    clients.add(client.on('error', () => client.destroy()).on('close', () => clients.delete(client)))
    const ready = backends.filter(({ isReady }) => isReady)
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
      backend.isReady = answer.statusCode === 200
    },
  )
  request.on('timeout', () => request.destroy(new Error('slow')))
  request.on('error', () => {
    backend.isReady = false
  })
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
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
    client.pipe(server).pipe(client)
  })
}

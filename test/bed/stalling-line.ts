// A line to a server that can fall silent: what is sent stays under way, connections stay open, nobody is told.

import { connect, createServer, type Socket } from 'node:net'

export interface StallingLine {
  readonly url: string
  stall(): void
  flow(): void
  stop(): Promise<void>
}

export async function stallingLine(endpoint: string): Promise<StallingLine> {
  const { hostname, port } = new URL(endpoint)
  const open = new Set<Socket>()
  let isStalled = false
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (piece) => to.write(piece))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      if (isStalled) from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  return {
    url: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`,
    stall: () => {
      isStalled = true
      for (const socket of open) socket.pause()
    },
    flow: () => {
      isStalled = false
      for (const socket of open) socket.resume()
    },
    stop: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

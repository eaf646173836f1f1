// A plain http proxy on the bed's bridge: the way to Debian's own repositories for machines that have no other way out.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'

export interface HttpForwarder {
  readonly url: string
  stop(): Promise<void>
}

export async function startHttpForwarder(address: string): Promise<HttpForwarder> {
  const server = createServer(forward)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return {
    url: `http://${address}:${port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(asked: IncomingMessage, answer: ServerResponse): void {
  const target = new URL(asked.url ?? '')
  const { host, hostname, pathname, search } = target
  const asking = request(
    {
      hostname,
      port: target.port || 80,
      path: pathname + search,
      method: asked.method,
      headers: { ...asked.headers, host },
    },
    (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(answer)
    },
  )
  asking.on('error', (error) => {
    if (!answer.headersSent) answer.writeHead(502)
    answer.end(error.message)
  })
  answer.on('close', () => asking.destroy())
  asked.pipe(asking)
}

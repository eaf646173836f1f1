// TLS in front of a server that speaks plain HTTP.

import { request as plainRequest } from 'node:http'
import { createServer } from 'node:https'
import type { Pair } from './certificates.ts'

export interface TlsFront {
  readonly url: string
  /** The words of authorization it was shown. */
  readonly shown: ReadonlySet<string>
  stop(): void
}

/** On `address`, which the pair is for. */
export async function startTlsFront(
  endpoint: string,
  { certificate: cert, key }: Pair,
  address = '127.0.0.1',
): Promise<TlsFront> {
  const shown = new Set<string>()
  const server = createServer({ cert, key }, (asked, answer) => {
    const { method, headers, url = '/' } = asked
    if (headers.authorization !== undefined) shown.add(headers.authorization)
    const passed = plainRequest(new URL(url, endpoint), { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 500, given.headers)
      given.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const bound = server.address()
  return {
    url: `https://${address}:${typeof bound === 'object' ? bound?.port : 0}`,
    shown,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

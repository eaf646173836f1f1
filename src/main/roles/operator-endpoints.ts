// What a kubelet and a Prometheus ask of the operator: /livez, /readyz and /metrics, nothing else.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SlipwayError } from '../../api/slipway-error.ts'

export interface Endpoints {
  readonly address: string
  readonly isReady: () => boolean
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
}

/** Resolves with the port once it listens; closed when the signal is aborted. */
export async function serveEndpoints(endpoints: Endpoints, signal: AbortSignal): Promise<number> {
  const { host, port } = parseAddress(endpoints.address)
  const server = createServer((request, response) => {
    answer(endpoints, request.method === 'GET' ? request.url : undefined, response).catch((error: unknown) =>
      response.writeHead(500).end(error instanceof Error ? error.message : 'failed'),
    )
  })
  server.listen({ port, signal, ...(host !== '' && { host }) })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new SlipwayError(
      'Usage',
      `cannot serve on ${endpoints.address}: ${cause instanceof Error ? cause.message : cause}`,
      {
        nextStep: 'choose another --metrics-address',
        cause,
      },
    )
  }
  return (server.address() as AddressInfo).port
}

async function answer(
  { isReady, metrics }: Endpoints,
  path: string | undefined,
  response: ServerResponse,
): Promise<void> {
  switch (path) {
    case '/livez':
      response.writeHead(200).end('ok')
      return
    case '/readyz':
      response.writeHead(isReady() ? 200 : 503).end(isReady() ? 'ok' : 'the API server has not answered yet')
      return
    case '/metrics':
      response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.text())
      return
    default:
      response.writeHead(404).end('not found')
  }
}

/** `:8080`, `127.0.0.1:9090`, `[::1]:9090`. */
export function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (!parts || port > 65_535) {
    throw new SlipwayError('Usage', `"${text}" is not an address`, {
      nextStep: 'write it like :8080 or 127.0.0.1:9090',
    })
  }
  return { host: parts[1] ?? parts[2] ?? '', port }
}

// An HTTP server for the person at this machine: it listens on loopback addresses and nowhere else.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { HttpAnswer, HttpRequest, HttpServer, HttpStream } from '../../ports/http-server.ts'

type Answer = (request: HttpRequest) => Promise<HttpAnswer>

const limits = { headerBytes: 16 * 1024, headersMs: 10_000, requestMs: 30_000, connections: 1000 } as const

export class NodeHttpServer implements HttpServer {
  async listen(port: number, answer: Answer, signal: AbortSignal): Promise<{ readonly port: number }> {
    const first = await listening('127.0.0.1', port, answer, signal)
    const chosen = (first.address() as AddressInfo).port
    try {
      await listening('::1', chosen, answer, signal)
    } catch (error) {
      // A machine without IPv6 has no such address; localhost is 127.0.0.1 there.
      if (!isAddressMissing(error)) throw taken(chosen, error)
    }
    return { port: chosen }
  }
}

async function listening(host: string, port: number, answer: Answer, signal: AbortSignal): Promise<Server> {
  const server = createServer({ maxHeaderSize: limits.headerBytes }, (request, response) => {
    void serve(request, response, answer)
  })
  server.headersTimeout = limits.headersMs
  server.requestTimeout = limits.requestMs
  server.maxConnections = limits.connections
  server.listen({ host, port })
  try {
    await once(server, 'listening', { signal })
  } catch (error) {
    server.close()
    throw host === '127.0.0.1' ? taken(port, error) : error
  }
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return server
}

async function serve(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the caller hung up')))
  // Whatever ended the connection, `close` follows; there is nobody left to tell.
  response.on('error', () => gone.abort())
  let answered: HttpAnswer
  try {
    answered = await answer(asked(request, gone.signal))
  } catch (error) {
    answered = { status: 500, headers: { 'content-type': 'text/plain' }, body: 'failed' }
    if (!gone.signal.aborted) response.destroy(error instanceof Error ? error : undefined)
  }
  if (gone.signal.aborted) return
  const { status, headers, body } = answered
  response.writeHead(status, headers)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.end(request.method === 'HEAD' ? undefined : body)
    return
  }
  response.flushHeaders()
  body.stream(streamTo(response), gone.signal)
}

function streamTo(response: ServerResponse): HttpStream {
  return {
    write: (bytes) => {
      response.write(bytes)
    },
    get waitingBytes() {
      return response.writableLength
    },
    close: () => {
      response.destroy()
    },
  }
}

function asked(request: IncomingMessage, signal: AbortSignal): HttpRequest {
  const { method = 'GET', url = '/' } = request
  const cut = url.indexOf('?')
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
  return {
    method,
    path: cut < 0 ? url : url.slice(0, cut),
    query: new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1)),
    headers,
    readBody: (maxBytes) => bodyOf(request, maxBytes),
    signal,
  }
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) continue
    bytes += piece.length
    if (bytes > maxBytes) {
      throw new SlipwayError('Usage', `the request is larger than ${maxBytes} bytes`, { nextStep: 'send less' })
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function isAddressMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL'
}

function taken(port: number, cause: unknown): SlipwayError {
  const { code, message } = cause as NodeJS.ErrnoException
  const isTaken = code === 'EADDRINUSE'
  return new SlipwayError('Usage', isTaken ? `port ${port} is in use` : `cannot listen on port ${port}: ${message}`, {
    nextStep: 'choose another --port, or none for any that is free',
    cause,
  })
}

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeAuthority, makePair } from '../../../test/bed/certificates.ts'
import type { KubeConnection, KubeCredential } from '../../ports/kube-connection.ts'
import { type Message, Transport } from './transport.ts'

const authority = makeAuthority('transport-test')
const pair = makePair(authority, { name: 'server', dns: ['api.example', 'localhost'], ips: [] })
const tls = { cert: pair.certificate, key: pair.key }
const { signal } = new AbortController()
const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

/** Its port, and every connection made to it. */
async function listen(server: Server): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUps.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

const say: RequestListener = (request, response) => {
  request.resume().once('end', () => response.end(`${request.method} ${request.url}`))
}

const trusting = (bundle: () => string) => ({ current: async () => bundle(), refused: () => {} })

function transportOf(connection: Omit<KubeConnection, 'credentials'>, credential: () => KubeCredential = () => ({})) {
  const credentials = { current: async () => credential(), refused: () => {} }
  const transport = new Transport({ ...connection, credentials })
  cleanUps.push(() => transport.close())
  return transport
}

const messageOf = (path: string, more: Partial<Message> = {}): Message => ({
  method: 'GET',
  path,
  headers: {},
  body: undefined,
  beforeSending: () => undefined,
  ...more,
})

async function textOf(answer: IncomingMessage): Promise<string> {
  return Buffer.concat(await answer.toArray()).toString()
}

const get = async (transport: Transport, path: string) => textOf(await transport.send(messageOf(path), signal))

/** Opens tunnels to `port` whatever was asked for, and passes plain requests on as answers that tell what was asked. */
function proxyServer(port: number, heads: IncomingMessage[], server = createServer()): Server {
  server.on('request', (request, response) => {
    heads.push(request)
    say(request, response)
  })
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    heads.push(request)
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
    socket.on('close', () => onward.destroy())
  })
  return server
}

describe('Transport', () => {
  test('keeps a connection for the next request, and opens another while one is in use', async () => {
    const { port, sockets } = await listen(createServer(say))
    const transport = transportOf({ server: `http://127.0.0.1:${port}` })
    for (const path of ['/1', '/2', '/3']) expect(await get(transport, path)).toBe(`GET ${path}`)
    expect(sockets).toHaveLength(1)
    await Promise.all([get(transport, '/4'), get(transport, '/5')])
    expect(sockets).toHaveLength(2)
  })

  test('every method brings its body', async () => {
    const seen: string[] = []
    const server = createServer(async (request, response) => {
      seen.push(`${request.method} ${request.headers['content-length']} ${await textOf(request)}`)
      response.end()
    })
    const { port } = await listen(server)
    const transport = transportOf({ server: `http://127.0.0.1:${port}` })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      await textOf(await transport.send(messageOf('/', { method, body: 'ä' }), signal))
    }
    expect(seen).toEqual(['POST 2 ä', 'PUT 2 ä', 'PATCH 2 ä', 'DELETE 2 ä'])
  })

  test('a new certificate gets new connections, and what runs on the old ones runs to its end', async () => {
    const held: (() => void)[] = []
    const server = createServer((request, response) => {
      if (request.url !== '/watch') return say(request, response)
      response.flushHeaders()
      held.push(() => response.end('all of it'))
    })
    // Left to the server, an idle connection would be closed soon anyway.
    server.keepAliveTimeout = 0
    const { port, sockets } = await listen(server)
    let certificate = { certificate: '1', key: '1' }
    const transport = transportOf({ server: `http://127.0.0.1:${port}` }, () => ({ certificate }))
    const watch = await transport.send(messageOf('/watch'), signal)
    await get(transport, '/idle')
    certificate = { certificate: '2', key: '2' }
    const [watching, idle] = sockets
    const idleClosed = idle && once(idle, 'close')
    await get(transport, '/new')
    expect(sockets).toHaveLength(3)
    await idleClosed
    const watchClosed = watching && once(watching, 'close')
    for (const end of held) end()
    expect(await textOf(watch)).toBe('all of it')
    await watchClosed
  })

  test('another authority gets new connections: what it did not sign is no longer believed', async () => {
    const { port, sockets } = await listen(createTlsServer(tls, say))
    let bundle = authority.certificate
    const transport = transportOf({
      server: `https://localhost:${port}`,
      authority: trusting(() => bundle),
    })
    for (const path of ['/1', '/2']) expect(await get(transport, path)).toBe(`GET ${path}`)
    expect(sockets).toHaveLength(1)
    bundle = makeAuthority('another').certificate
    await expect(get(transport, '/3')).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    bundle += authority.certificate
    expect(await get(transport, '/4')).toBe('GET /4')
  })

  test('an abort ends a request at once, also while its connection comes about', async () => {
    const { port, sockets } = await listen(createTcpServer(() => {}))
    const transport = transportOf({ server: `https://127.0.0.1:${port}` })
    const stop = new AbortController()
    const sending = transport.send(messageOf('/'), stop.signal)
    await expect.poll(() => sockets.length).toBe(1)
    stop.abort(new Error('enough'))
    await expect(sending).rejects.toThrow('enough')
  })

  test('closing ends what runs and what only connects, on both sides', async () => {
    const silent = await listen(createServer(() => {}))
    const speechless = await listen(createTcpServer(() => {}))
    for (const [server, sockets] of [
      [`http://127.0.0.1:${silent.port}`, silent.sockets],
      [`https://127.0.0.1:${speechless.port}`, speechless.sockets],
    ] as const) {
      const transport = transportOf({ server })
      const failure = transport.send(messageOf('/'), signal).catch((error: unknown) => error)
      await expect.poll(() => sockets.length).toBe(1)
      const [socket] = sockets
      // A socket nobody reads does not see the other side go.
      const closed = socket && once(socket.resume(), 'close')
      await transport.close()
      expect(await failure).toMatchObject({ message: 'the client is closed' })
      await closed
      await expect(transport.send(messageOf('/'), signal)).rejects.toThrow('the client is closed')
    }
  })

  test('what is refused just before sending leaves nothing behind', async () => {
    const { port, sockets } = await listen(createServer(say))
    const transport = transportOf({ server: `http://127.0.0.1:${port}` })
    const objection = new Error('too late')
    await expect(transport.send(messageOf('/', { beforeSending: () => objection }), signal)).rejects.toBe(objection)
    await expect
      .poll(() => sockets.map(({ bytesRead, destroyed }) => ({ bytesRead, destroyed })))
      .toEqual([{ bytesRead: 0, destroyed: true }])
  })

  describe('through a proxy', () => {
    const trusted = getCACertificates()
    beforeAll(() => setDefaultCACertificates([...trusted, authority.certificate]))
    afterAll(() => setDefaultCACertificates(trusted))

    test.each(['http', 'https'])('%s: a tunnel for https, with TLS for the server inside it', async (protocol) => {
      const heads: IncomingMessage[] = []
      const names: unknown[] = []
      const api = createTlsServer(tls, say)
      api.on('secureConnection', (socket) => names.push(socket.servername))
      const { port: apiPort } = await listen(api)
      const server = protocol === 'https' ? createTlsServer(tls) : createServer()
      const { port } = await listen(proxyServer(apiPort, heads, server))
      const transport = transportOf({
        server: 'https://api.example/below',
        authority: trusting(() => authority.certificate),
        proxyUrl: `${protocol}://us%40er:pass@localhost:${port}`,
      })
      expect(await get(transport, '/a')).toBe('GET /below/a')
      expect(await get(transport, '/b')).toBe('GET /below/b')
      expect(heads.map(({ method, url }) => `${method} ${url}`)).toEqual(['CONNECT api.example:443'])
      expect(heads[0]?.headers).toMatchObject({
        host: 'api.example:443',
        'proxy-authorization': `Basic ${Buffer.from('us@er:pass').toString('base64')}`,
      })
      expect(names).toEqual(['api.example'])
    })

    test('the server inside the tunnel must be the one that was meant', async () => {
      const { port: apiPort } = await listen(createTlsServer(tls, say))
      const { port } = await listen(proxyServer(apiPort, []))
      const transport = transportOf({
        server: 'https://other.example',
        authority: trusting(() => authority.certificate),
        proxyUrl: `http://localhost:${port}`,
      })
      await expect(get(transport, '/')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    })

    test('a plain server is asked for by its whole address', async () => {
      const heads: IncomingMessage[] = []
      const { port } = await listen(proxyServer(0, heads))
      const transport = transportOf({
        server: 'http://api.example:8080/below/',
        proxyUrl: `http://user@localhost:${port}`,
      })
      expect(await get(transport, '/a?b=c')).toBe('GET http://api.example:8080/below/a?b=c')
      expect(heads[0]?.headers).toMatchObject({
        host: 'api.example:8080',
        'proxy-authorization': `Basic ${Buffer.from('user:').toString('base64')}`,
      })
    })

    test('a proxy that refuses is named', async () => {
      const server = createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'))
      const { port } = await listen(server)
      const transport = transportOf({ server: 'https://api.example', proxyUrl: `http://localhost:${port}` })
      await expect(get(transport, '/')).rejects.toThrow(
        `the proxy localhost:${port} answered 407 when asked for api.example:443`,
      )
    })
  })
})

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { makeAuthority, makePair } from '../../../test/bed/certificates.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { SystemClock } from '../../adapters/clock/system-clock.ts'
import { type ConfigMap, configMaps, type Node, nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { HttpClientOptions, RequestRecord } from './http-client.ts'
import { HttpKubeApi } from './http-kube-api.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void
const { signal } = new AbortController()
const cleanUps: (() => Promise<unknown> | undefined)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
const status = (code: number, reason: string, more: object = {}) => ({
  kind: 'Status',
  code,
  reason,
  message: reason,
  ...more,
})
const hangUp: Answer = (request) => request.socket.destroy()
const node = json(200, { metadata: { name: 'n', uid: 'u', resourceVersion: '1' }, spec: {} })

/** A server that gives these answers one after the other, the last one for ever. */
async function serve(
  ...answers: readonly Answer[]
): Promise<{ url: string; requests: IncomingMessage[]; server: Server }> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    requests.push(request)
    request.resume().once('end', () => answer?.(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, requests, server }
}

function clientOf(url: string, options: Partial<HttpClientOptions> = {}) {
  const records: RequestRecord[] = []
  const api = new HttpKubeApi({
    connection: {
      server: url,
      credentials: { current: async () => ({ authorization: 'Bearer t' }), refused: () => {} },
    },
    clock: new SystemClock(),
    random: fixedRandom(0),
    userAgent: 'slipway/1.2.3 (test)',
    onRequest: (record) => records.push(record),
    ...options,
  })
  cleanUps.push(() => api.close())
  return { api, records }
}

describe('HttpKubeApi', () => {
  test('says who it is, and asks for strict validation on each write', async () => {
    const { url, requests } = await serve(node)
    const { api } = clientOf(`${url}/below/`)
    await api.patch(nodes, { name: 'n' }, { type: 'merge', body: {} }, signal)
    await api.replace<ConfigMap>(
      configMaps,
      { metadata: { name: 'c', namespace: 'x', uid: '', resourceVersion: '', creationTimestamp: '' } },
      signal,
    )
    expect(requests.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
      'PATCH /below/api/v1/nodes/n?fieldValidation=Strict',
      'PUT /below/api/v1/namespaces/x/configmaps/c?fieldValidation=Strict',
    ])
    expect(requests[0]?.headers).toMatchObject({
      'user-agent': 'slipway/1.2.3 (test)',
      authorization: 'Bearer t',
      'content-type': 'application/merge-patch+json',
    })
  })

  const retried = [
    {
      what: '429 with Retry-After',
      first: json(429, status(429, 'TooManyRequests'), { 'retry-after': '0' }),
      read: 2,
      write: 2,
    },
    { what: '500', first: json(500, status(500, 'InternalError')), read: 2, write: 1 },
    { what: '503', first: json(503, status(503, 'ServiceUnavailable')), read: 2, write: 1 },
    { what: 'a broken connection', first: hangUp, read: 2, write: 1 },
    { what: '404', first: json(404, status(404, 'NotFound')), read: 1, write: 1 },
    { what: '401', first: json(401, status(401, 'Unauthorized')), read: 2, write: 2 },
  ]
  test.each(retried)(
    'after $what a read is sent $read times and a write $write times',
    async ({ first, read, write }) => {
      for (const [times, call] of [
        [read, (api: HttpKubeApi) => api.get(nodes, { name: 'n' }, signal)],
        [write, (api: HttpKubeApi) => api.patch(nodes, { name: 'n' }, { type: 'merge', body: {} }, signal)],
      ] as const) {
        const { url, requests } = await serve(first, node)
        const { api } = clientOf(url)
        if (times === 2) await call(api)
        else await expect(call(api)).rejects.toBeInstanceOf(KubeError)
        expect(requests).toHaveLength(times)
      }
    },
  )

  test('an eviction that is held back is never repeated', async () => {
    const { url, requests } = await serve(
      json(429, status(429, 'TooManyRequests', { details: { causes: [{ reason: 'DisruptionBudget' }] } }), {
        'retry-after': '1',
      }),
    )
    const eviction = clientOf(url).api.evict({ name: 'p', namespace: 'x' }, {}, signal)
    await expect(eviction).rejects.toMatchObject({
      code: 'TooManyRequests',
      retryAfterMs: 1_000,
      causes: [{ reason: 'DisruptionBudget' }],
    })
    expect(requests).toHaveLength(1)
  })

  test('a write is tried again while nobody listens, but not for long', async () => {
    const { url, server } = await serve(node)
    await new Promise((resolve) => server.close(resolve))
    const { api, records } = clientOf(url)
    const startedMs = performance.now()
    await expect(api.delete(nodes, { name: 'n' }, {}, signal)).rejects.toMatchObject({ code: 'Unreachable', status: 0 })
    expect(records.length).toBeGreaterThan(2)
    expect(performance.now() - startedMs).toBeLessThan(8_000)
    const quick = clientOf(url, { retryForMs: 0 })
    await expect(quick.api.get(nodes, { name: 'n' }, signal)).rejects.toThrow(
      `cannot reach ${url}: connect ECONNREFUSED`,
    )
    expect(quick.records).toEqual([{ verb: 'get', plural: 'nodes', status: 0, ms: expect.any(Number) }])
  })

  test('a write that could not be sent in time is not sent at all', async () => {
    const { url, requests } = await serve(node)
    let nowMs = 0
    const system = new SystemClock()
    // The process is frozen while the credentials are fetched.
    const clock = { now: () => system.now(), monotonicMs: () => nowMs, after: () => () => {} }
    const credentials = {
      current: async () => {
        nowMs += 5_000
        return {}
      },
      refused: () => {},
    }
    const { api } = clientOf(url, { clock, connection: { server: url, credentials } })
    await expect(api.delete(nodes, { name: 'n' }, {}, signal)).rejects.toMatchObject({ code: 'Timeout' })
    expect(requests).toHaveLength(0)
  })

  test('a write whose connection came about too late is not sent at all', async () => {
    let nowMs = 0
    let requests = 0
    const system = new SystemClock()
    const clock = { now: () => system.now(), monotonicMs: () => nowMs, after: () => () => {} }
    const { certificate: cert, key } = makePair(makeAuthority('test'), { name: 'server' })
    const server = createTlsServer({ cert, key }, () => {
      requests += 1
    })
    // Time passes between the first packet and the end of the handshake.
    server.on('connection', () => {
      nowMs += 5_000
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const credentials = { current: async () => ({}), refused: () => {} }
    const connection = { server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true, credentials }
    const { api, records } = clientOf('', { clock, connection })
    const deleting = api.delete(nodes, { name: 'n' }, {}, signal)
    await expect(deleting).rejects.toMatchObject({ code: 'Timeout', message: expect.stringContaining('not sent') })
    expect(records).toHaveLength(1)
    expect(requests).toBe(0)
  })

  test('a kept connection that breaks before the answer: a read is repeated, a write is not', async () => {
    for (const [times, call] of [
      [3, (api: HttpKubeApi) => api.get(nodes, { name: 'n' }, signal)],
      [2, (api: HttpKubeApi) => api.patch(nodes, { name: 'n' }, { type: 'merge', body: {} }, signal)],
    ] as const) {
      const { url, requests } = await serve(node, hangUp, node)
      const { api } = clientOf(url)
      await api.get(nodes, { name: 'n' }, signal)
      if (times === 3) await call(api)
      else await expect(call(api)).rejects.toMatchObject({ code: 'Unreachable' })
      expect(requests).toHaveLength(times)
      expect(requests[1]?.socket).toBe(requests[0]?.socket)
    }
  })

  test('an answer that does not come is a Timeout; an abort is the caller’s own reason', async () => {
    const { url } = await serve(() => {})
    const { api } = clientOf(url, { timeoutMs: 50, retryForMs: 0 })
    await expect(api.get(nodes, { name: 'n' }, signal)).rejects.toMatchObject({ code: 'Timeout' })
    const stop = new AbortController()
    const getting = clientOf(url).api.get(nodes, { name: 'n' }, stop.signal)
    setTimeout(() => stop.abort(new Error('enough')), 20)
    await expect(getting).rejects.toThrow('enough')
  })

  test('a watch is cut into events wherever the bytes are cut', async () => {
    const names = ['ä', '🚢'.repeat(50), 'z']
    const lines = names.map((name) => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`).join('')
    for (const size of [1, 3, 7, 4096]) {
      const { url } = await serve((_request, response) => {
        const bytes = Buffer.from(lines)
        for (let i = 0; i < bytes.length; i += size) response.write(bytes.subarray(i, i + size))
        response.end()
      })
      const seen: string[] = []
      await clientOf(url).api.watch<Node>(
        nodes,
        {},
        (event) => {
          if (event.type === 'ADDED') seen.push(event.object.metadata.name)
        },
        signal,
      )
      expect(seen).toEqual(names)
    }
  })

  test.each([
    { what: 'broken off in the middle', body: '{"type":"ADDED"', code: 'Unreachable' },
    {
      what: 'ended by 410',
      body: '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n',
      code: 'Expired',
    },
    { what: 'silent for too long', body: undefined, code: 'Unreachable' },
  ])('a watch $what is $code', async ({ body, code }) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200)
      response.flushHeaders()
      if (body !== undefined) response.end(body)
    })
    const { api } = clientOf(url, { silenceMs: 50, timeoutMs: 100 })
    await expect(api.watch(nodes, {}, () => {}, signal)).rejects.toMatchObject({ code })
  })

  test('what the receiver of a watch throws comes back as it is', async () => {
    const { url } = await serve((_request, response) => response.write('{"type":"ADDED","object":{"metadata":{}}}\n'))
    const watching = clientOf(url).api.watch(
      nodes,
      {},
      () => {
        throw new TypeError('a bug')
      },
      signal,
    )
    await expect(watching).rejects.toThrow(TypeError)
  })
})

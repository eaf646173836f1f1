import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpWeb } from './http-web.ts'

const { signal } = new AbortController()
let server: Server
let url: string

beforeAll(async () => {
  server = createServer((request, answer) => {
    if (request.url === '/silent') return
    if (request.url === '/moved') {
      answer.writeHead(302, { location: '/elsewhere' }).end()
      return
    }
    if (request.url === '/huge') {
      answer.end('x'.repeat(3_000_000))
      return
    }
    if (request.url === '/signature') {
      answer.end(String(request.headers['slipway-signature']))
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () =>
      answer.end(`${request.method} ${request.headers['idempotency-key']} ${Buffer.concat(chunks)}`),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('a request to a server', () => {
  it('sends what it is told and gives any answer back', async () => {
    const headers = { 'idempotency-key': 'k1' }
    const answer = await httpWeb.request({ method: 'POST', url, headers, body: 'hello', timeoutMs: 5_000 }, signal)
    expect(answer).toEqual({ status: 200, body: 'POST k1 hello' })
    expect(await httpWeb.request({ method: 'GET', url: `${url}/moved`, timeoutMs: 5_000 }, signal)).toMatchObject({
      status: 302,
    })
  })

  it('signs what it sends, with the time, so that the receiver can tell who sent it and when', async () => {
    const at = new Date('2026-03-01T12:00:00.500Z')
    const request = { method: 'POST', url: `${url}/signature`, body: '{"a":1}', timeoutMs: 5_000 } as const
    const { body } = await httpWeb.request({ ...request, signing: { secret: 'key', at } }, signal)
    const sum = createHmac('sha256', 'key').update('1772366400.{"a":1}').digest('hex')
    expect(body).toBe(`t=1772366400,v1=${sum}`)
    expect((await httpWeb.request(request, signal)).body).toBe('undefined')
  })

  it('reads no more than anybody looks at', async () => {
    const { body } = await httpWeb.request({ method: 'GET', url: `${url}/huge`, timeoutMs: 5_000 }, signal)
    expect(body.length).toBeLessThan(1_200_000)
  })

  it.each([
    ['nobody listens', 'http://127.0.0.1:1/', /cannot be asked: .*ECONNREFUSED/],
    ['the server stays silent', '/silent', /gave no whole answer within 0 s/],
  ])('says why none came: %s', async (_what, path, words) => {
    const asked = httpWeb.request({ method: 'GET', url: new URL(path, url).href, timeoutMs: 200 }, signal)
    await expect(asked).rejects.toMatchObject({ code: 'CannotReach', message: expect.stringMatching(words) })
  })

  it('does not show the password of an address', async () => {
    const asked = httpWeb.request({ method: 'GET', url: 'http://ana:secret@127.0.0.1:1/', timeoutMs: 200 }, signal)
    await expect(asked).rejects.toMatchObject({ message: expect.not.stringContaining('secret') })
  })

  it.each([
    ['an address with a port that is none', { url: 'http://127.0.0.1:99999/services/T0P5ECRET' }, /no valid URL/],
    ['a header of two lines', { headers: { authorization: 'Bearer T0P5ECRET\nx' } }, /"authorization"/],
  ])('cannot be sent with %s, and shows nothing of it', async (_what, wrong, words) => {
    const asked = httpWeb.request({ method: 'GET', url, timeoutMs: 200, ...wrong }, signal)
    const error = await asked.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'CannotReach', message: expect.stringMatching(words) })
    // As much as any log writes of it.
    expect(inspect(error, { depth: null })).not.toContain('T0P5ECRET')
  })
})

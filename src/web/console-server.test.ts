// The server as browsers meet it: over HTTP, on a cluster in memory.

import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsoleBed, startConsole } from '../../test/browser/console-server.ts'
import { readStream } from '../../test/browser/stream-reader.ts'
import type { StaticFiles } from './static-file.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const files: StaticFiles = new Map([
  ['/index.html', { type: 'text/html; charset=utf-8', bytes: bytesOf('<!doctype html>'), immutable: false }],
  [
    '/assets/app-1a2b.js',
    { type: 'text/javascript', bytes: bytesOf('app()'), gzip: bytesOf('gz'), brotli: bytesOf('br'), immutable: true },
  ],
])

let bed: ConsoleBed

beforeAll(async () => {
  bed = await startConsole({ situation: 'large', nodes: 60, files })
})

afterAll(() => bed.stop())

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** As any program may ask, whatever a browser would forbid. */
function ask(path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  const { method = 'GET', headers = {}, body } = options
  return new Promise<Answer>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: bed.port, path, method, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(pieces).toString(),
        }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

const withToken = () => ({ authorization: `Bearer ${bed.token}` })
const asJson = () => ({ ...withToken(), 'content-type': 'application/json' })

describe('guards', () => {
  it.each([
    ['no token', '/api/rights', {}, 401],
    ['a name that was made to point here', '/api/rights', { host: 'evil.example' }, 421],
    ['another site', '/api/rights', { origin: 'https://evil.example' }, 403],
    ['a file of the machine', '/../../etc/passwd', {}, 404],
    ['a file of the machine, spelt otherwise', '/%2e%2e/%2e%2e/etc/passwd', {}, 404],
    ['an address that is none', '/api/nodes/%zz', { auth: 'yes' }, 400],
    ['a node that is none', '/api/nodes/nobody', { auth: 'yes' }, 404],
    ['a question that is none', '/api/secrets', { auth: 'yes' }, 404],
  ])('%s', async (_, path, { auth, ...headers }: Record<string, string>, status) => {
    const answer = await ask(path, { headers: { ...(auth && withToken()), ...headers } })
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ code: expect.any(String), nextStep: expect.any(String) })
  })

  it('every answer forbids frames, other origins, guessing of types, and code that is not ours', async () => {
    for (const path of ['/', '/api/rights', '/nothing']) {
      const { headers } = await ask(path)
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'self';.*frame-ancestors 'none'/),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  it('a body that is too large, no JSON, or not what the page sends', async () => {
    const send = (body: string) => ask('/api/actions', { method: 'POST', headers: asJson(), body })
    expect(await send(`"${'x'.repeat(300_000)}"`)).toMatchObject({ status: 400 })
    expect(await send('{')).toMatchObject({ status: 400, text: expect.stringContaining('not JSON') })
    expect(await send('{"action":"erase"}')).toMatchObject({ status: 400, text: expect.stringContaining('action') })
    expect(await send('{"action":"pause"}')).toMatchObject({ status: 400, text: expect.stringContaining('update') })
  })

  it('listens on this machine only', async () => {
    const { networkInterfaces } = await import('node:os')
    const outward = Object.values(networkInterfaces())
      .flat()
      .find((one) => one && !one.internal && one.family === 'IPv4')
    if (!outward) return
    await expect(fetch(`http://${outward.address}:${bed.port}/`)).rejects.toThrow()
  })
})

describe('files', () => {
  it('as small as the browser takes them, hashed ones for good', async () => {
    const plain = await ask('/assets/app-1a2b.js')
    expect(plain).toMatchObject({ text: 'app()', headers: { 'cache-control': expect.stringContaining('immutable') } })
    const small = await ask('/assets/app-1a2b.js', { headers: { 'accept-encoding': 'gzip, br;q=0.9' } })
    expect(small).toMatchObject({ text: 'br', headers: { 'content-encoding': 'br' } })
    expect(await ask('/')).toMatchObject({ text: '<!doctype html>', headers: { 'cache-control': 'no-cache' } })
  })
})

describe('streams', () => {
  it('the whole first, then what changed, to a hundred of them from one text', async () => {
    const readers = await Promise.all(Array.from({ length: 100 }, () => readStream(bed)))
    await expect.poll(() => bed.console.hub.open).toBe(100)
    const before = bed.console.hub.serialised
    await bed.large?.setPhase('w50', 'Draining')
    await expect.poll(() => readers.every(({ state }) => state.nodes.w50?.phase === 'Draining')).toBe(true)
    expect(bed.console.hub.serialised - before).toBe(1)
    expect(Object.keys(readers[0]?.changes[0]?.nodes ?? {})).toEqual(['w50'])
    for (const reader of readers) reader.close()
    await expect.poll(() => bed.console.hub.open).toBe(0)
  })

  it('changes that come together are told together', async () => {
    const reader = await readStream(bed)
    const names = ['w51', 'w52', 'w53', 'w54']
    for (const name of names) await bed.large?.setPhase(name, 'Working')
    await expect.poll(() => names.every((name) => reader.state.nodes[name]?.phase === 'Working')).toBe(true)
    expect(reader.changes.filter(({ nodes }) => nodes)).toHaveLength(1)
    reader.close()
  })

  it('whoever comes back gets the whole again', async () => {
    const first = await readStream(bed)
    first.close()
    await bed.large?.setPhase('w55', 'Failed')
    const again = await readStream(bed)
    expect(again.state.nodes.w55?.phase).toBe('Failed')
    expect(Object.keys(again.state.nodes)).toHaveLength(60)
    again.close()
  })

  it('whoever comes to a quiet cluster is told at once what time it is there', async () => {
    const before = await readStream(bed)
    await bed.pass(7_200)
    const late = await readStream(bed)
    const nowMs = bed.cluster.clock.now().getTime()
    await expect.poll(() => Date.parse(late.state.at), { timeout: 3_000 }).toBe(nowMs)
    for (const reader of [before, late]) reader.close()
  })

  it('who does not read is hung up on before 8 MiB wait for them; others go on, and they come back to the whole', async () => {
    const { hub } = bed.console
    const reader = await readStream(bed)
    const slow = connect(bed.port, '127.0.0.1').pause()
    slow.on('error', () => undefined)
    slow.write(`GET /api/stream?token=${bed.token} HTTP/1.1\r\nhost: 127.0.0.1:${bed.port}\r\n\r\n`)
    await expect.poll(() => hub.open).toBe(2)
    const mebibyte = hub.event('ping', { at: new Date().toISOString(), filler: 'x'.repeat(1024 * 1024) })
    let told = 0
    // What the kernel holds for a socket comes on top of ours: some MiB.
    for (; hub.open === 2 && told < 64; told++) {
      hub.tell(mebibyte)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(hub.open).toBe(1)
    expect(told).toBeGreaterThan(8)
    await bed.large?.setPhase('w48', 'Failed')
    await expect.poll(() => reader.state.nodes.w48?.phase).toBe('Failed')
    expect(reader.ended).toBe(false)
    let bytes = 0
    slow.on('data', (piece: Buffer) => {
      bytes += piece.length
    })
    slow.resume()
    await once(slow, 'close')
    expect(bytes).toBeLessThan(told * mebibyte.length)
    const back = await readStream(bed)
    expect(back.state.nodes.w48?.phase).toBe('Failed')
    expect(Object.keys(back.state.nodes)).toHaveLength(60)
    back.close()
    reader.close()
  })

  it('a change that a page would not show is not told', async () => {
    const reader = await readStream(bed)
    const { nodes } = await import('../api/kube.ts')
    const heartbeat = { metadata: { annotations: { heartbeat: '1' } } }
    await bed.person.patch(nodes, { name: 'w10' }, { type: 'merge', body: heartbeat }, new AbortController().signal)
    await bed.large?.setPhase('w49', 'Working')
    await expect.poll(() => reader.state.nodes.w49?.phase).toBe('Working')
    expect(reader.changes.flatMap(({ nodes: some }) => Object.keys(some ?? {}))).toEqual(['w49'])
    reader.close()
  })
})

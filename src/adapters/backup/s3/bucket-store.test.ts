import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Clock } from '../../../ports/clock.ts'
import { SeededRandom } from '../../../sim/seeded-random.ts'
import { possibleSum } from './body-sum.ts'
import { BucketClient, type BucketTools } from './bucket-client.ts'
import { BucketStore } from './bucket-store.ts'

const { signal } = new AbortController()
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Waits are noted, and over at once. */
class HastyClock implements Clock {
  readonly waits: number[] = []
  now = () => new Date('2026-01-01T00:00:00Z')
  monotonicMs = () => 0
  after(ms: number, callback: () => void) {
    this.waits.push(ms)
    const timer = setImmediate(callback)
    return () => clearImmediate(timer)
  }
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}
type Answer = (asked: Asked, answer: ServerResponse, count: number) => void

const xml = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code><Message>said so</Message></Error>`
const say = (answer: ServerResponse, status: number, body = '', headers: Record<string, string> = {}) =>
  answer.writeHead(status, { etag: '"e"', ...headers }).end(body)

async function rig(respond: Answer, tools: Partial<BucketTools> = {}) {
  const asked: Asked[] = []
  const server = createServer((request, answer) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      asked.push({ method, url, headers, body: Buffer.concat(parts) })
      respond(asked.at(-1) as Asked, answer, asked.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const clock = new HastyClock()
  const settings = {
    bucket: 'backups',
    endpoint: new URL(`http://127.0.0.1:${port}`),
    virtualHost: false,
    region: 'us-east-1',
    credentials: { keys: { accessKeyID: 'id', secretAccessKey: 'hidden-from-all', sessionToken: 'for-now' } },
  }
  const client = new BucketClient(settings, { clock, random: new SeededRandom(1), attempts: 4, ...tools })
  const store = new BucketStore(client, { scheme: 's3', bucket: 'backups', prefix: 'etcd', partBytes: 10 })
  closing.push(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  return { store, asked, clock, settings, port }
}

async function* content(text: string): AsyncGenerator<Uint8Array> {
  for (const piece of text.match(/.{1,7}/g) ?? []) yield Buffer.from(piece)
}
async function textOf(stream: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  let text = ''
  for await (const piece of stream ?? []) text += Buffer.from(piece).toString()
  return text
}

/** Takes uploads in parts as S3 does; `else` may answer before it. */
const inParts =
  (before: (asked: Asked, answer: ServerResponse) => boolean = () => false): Answer =>
  (asked, answer) => {
    if (before(asked, answer)) return
    if (asked.method === 'POST' && asked.url.endsWith('?uploads=')) say(answer, 200, '<UploadId>u1</UploadId>')
    else if (asked.method === 'GET') say(answer, 200, '<ListMultipartUploadsResult/>')
    else say(answer, asked.method === 'DELETE' ? 204 : 200)
  }

describe('a store that is busy or faulty', () => {
  it.each([503, 500, 502, 429])('is asked again, later and later, while it answers %i', async (status) => {
    const { store, asked, clock } = await rig((_, answer, count) => say(answer, count < 4 ? status : 200))
    await store.put('b1', content('small'), signal)
    expect(asked).toHaveLength(4)
    expect(clock.waits).toHaveLength(3)
    expect(clock.waits.toSorted((a, b) => a - b)).toEqual(clock.waits)
    expect(asked.at(-1)).toMatchObject({ method: 'PUT', url: '/backups/etcd/b1', body: Buffer.from('small') })
    expect(asked.at(-1)?.headers['x-amz-security-token']).toBe('for-now')
  })

  it('is given up in the end, with its own words', async () => {
    const { store, asked } = await rig((_, answer) => say(answer, 503, xml('SlowDown')))
    await expect(store.list(signal)).rejects.toMatchObject({
      code: 'StoreUnreachable',
      message: expect.stringContaining('503 SlowDown: said so'),
    })
    expect(asked).toHaveLength(4)
  })

  it('that breaks connections off is asked again', async () => {
    const { store } = await rig((_, answer, count) => (count < 3 ? answer.destroy() : say(answer, 200)))
    await store.put('b1', content('small'), signal)
  })

  it('that stays silent is unreachable', async () => {
    const { store } = await rig(() => undefined, { silenceMs: 50, attempts: 2 })
    await expect(store.get('b1', signal)).rejects.toMatchObject({
      code: 'StoreUnreachable',
      message: expect.stringContaining('silent'),
    })
  })

  it.each([
    { name: 'falls silent', act: () => undefined },
    { name: 'breaks off', act: (answer: ServerResponse) => answer.destroy() },
  ])('that $name in the middle of an object is unreachable', async ({ act }) => {
    const start: Answer = (_, answer) => {
      answer.writeHead(200, { 'content-length': '100' }).write('half of it', () => act(answer))
    }
    const { store } = await rig(start, { silenceMs: 50 })
    await expect(textOf(await store.get('b1', signal))).rejects.toMatchObject({ code: 'StoreUnreachable' })
  })
})

describe('what will not pass is said at once', () => {
  it.each([
    { status: 403, code: 'InvalidAccessKeyId', says: 'Secret' },
    { status: 403, code: 'SignatureDoesNotMatch', says: 'Secret' },
    { status: 400, code: 'ExpiredToken', says: 'fresh ones' },
    { status: 403, code: 'RequestTimeTooSkewed', says: 'clock' },
    { status: 404, code: 'NoSuchBucket', says: 'create the bucket' },
    { status: 301, code: 'PermanentRedirect', says: 'region' },
    { status: 403, code: 'QuotaExceeded', says: 'quota' },
    { status: 507, code: 'XMinioStorageFull', says: 'free room' },
  ])('$status $code', async ({ status, code, says }) => {
    const { store, asked } = await rig((_, answer) => say(answer, status, xml(code)))
    const refusal = await store.put('b1', content('small'), signal).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'StoreRefused', nextStep: expect.stringContaining(says) })
    expect(String(refusal)).not.toContain('hidden-from-all')
    expect(asked).toHaveLength(1)
  })
})

describe('an upload in parts', () => {
  it('sends each part once, in its order, and ends with their tags', async () => {
    const { store, asked } = await rig(inParts())
    await store.put('b1', content('0123456789abcdefghijABCDE'), signal)
    const parts = asked.filter(({ method }) => method === 'PUT')
    expect(parts.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((number) => `/backups/etcd/b1?partNumber=${number}&uploadId=u1`),
    )
    expect(parts.map(({ body }) => body.toString())).toEqual(['0123456789', 'abcdefghij', 'ABCDE'])
    expect(asked.at(-1)).toMatchObject({ method: 'POST', url: '/backups/etcd/b1?uploadId=u1' })
    expect(asked.at(-1)?.body.toString()).toContain('<PartNumber>3</PartNumber><ETag>&#34;e&#34;</ETag>')
  })

  it('of which a part fails is given up, and cleared', async () => {
    const full = (asked: Asked, answer: ServerResponse) => {
      if (!asked.url.includes('partNumber=2')) return false
      say(answer, 507, xml('InsufficientStorage'))
      return true
    }
    const { store, asked } = await rig(inParts(full))
    await expect(store.put('b1', content('x'.repeat(35)), signal)).rejects.toMatchObject({ code: 'StoreRefused' })
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', url: '/backups/etcd/b1?uploadId=u1' })
    expect(asked.some(({ url }) => url.includes('partNumber=4'))).toBe(false)
  })

  it('is not there when the store says so at the end of a 200', async () => {
    const late = (asked: Asked, answer: ServerResponse) => {
      if (asked.method !== 'POST' || !asked.url.includes('uploadId=')) return false
      say(answer, 200, xml('InternalError'))
      return true
    }
    const { store } = await rig(inParts(late))
    await expect(store.put('b1', content('x'.repeat(35)), signal)).rejects.toMatchObject({ code: 'StoreUnreachable' })
  })

  it.each([
    { name: 'is there', bytes: '35', expected: undefined },
    { name: 'is another', bytes: '34', expected: { code: 'StoreUnreachable' } },
  ])('whose last answer was lost is looked for: it $name', async ({ bytes, expected }) => {
    let ends = 0
    const lost = (asked: Asked, answer: ServerResponse) => {
      if (asked.method === 'HEAD') say(answer, 200, '', { 'content-length': bytes })
      else if (asked.method !== 'POST' || !asked.url.includes('uploadId=')) return false
      else if (++ends === 1) answer.destroy()
      else say(answer, 404, xml('NoSuchUpload'))
      return true
    }
    const { store } = await rig(inParts(lost))
    const outcome = await store.put('b1', content('x'.repeat(35)), signal).catch((error: unknown) => error)
    if (expected) expect(outcome).toMatchObject(expected)
    else expect(outcome).toBeUndefined()
  })
})

describe('a bucket that locks its objects takes only what comes with its sum', () => {
  const sumOf = (kind: string, body: Buffer) => createHash(kind).update(body).digest('base64')
  /** As S3 refuses it; a sum of SHA-256 in parts only where the upload was begun with it, and again at its end. */
  const locking = (asked: Asked, answer: ServerResponse) => {
    const { 'content-md5': md5, 'x-amz-checksum-sha256': sha256, authorization = '' } = asked.headers
    if (asked.method !== 'PUT') return false
    const isSummed = md5 === sumOf('md5', asked.body) || sha256 === sumOf('sha256', asked.body)
    const isSigned = /SignedHeaders=[^,]*(content-md5|x-amz-checksum-sha256)/.test(authorization)
    if (isSummed && isSigned) return false
    say(answer, 400, xml('InvalidRequest'))
    return true
  }

  it.each(['md5', 'sha256'] as const)('whole and in parts, by %s', async (sum) => {
    const { store, asked } = await rig(inParts(locking), { sum })
    await store.put('small', content('small'), signal)
    await store.put('large', content('0123456789abcdefghijABCDE'), signal)
    const begun = asked.find(({ url }) => url.endsWith('?uploads='))
    const end = asked.at(-1)?.body.toString() ?? ''
    expect(begun?.headers['x-amz-checksum-algorithm']).toBe(sum === 'sha256' ? 'SHA256' : undefined)
    expect(end.match(/<ChecksumSHA256>/g) ?? []).toHaveLength(sum === 'sha256' ? 3 : 0)
    if (sum === 'sha256') expect(end).toContain(`<ChecksumSHA256>${sumOf(sum, Buffer.from('ABCDE'))}</ChecksumSHA256>`)
  })

  it('what this machine can make is MD5, unless it must not', () => {
    expect(possibleSum()).toBe('md5')
    const unsupported = () => {
      throw new Error('error:0308010C:digital envelope routines::unsupported')
    }
    expect(possibleSum(unsupported)).toBe('sha256')
  })
})

it('a part that is sent in many pieces comes as it was, twice where the first time broke off', async () => {
  const { asked, settings } = await rig((_, answer, count) => (count === 1 ? answer.destroy() : say(answer, 200)))
  const client = new BucketClient(settings, { clock: new HastyClock(), random: new SeededRandom(1) })
  closing.push(() => client.close())
  const random = new SeededRandom(2)
  const large = Buffer.from(Array.from({ length: 1_000_001 }, () => Math.floor(random.next() * 256)))
  const once = async function* () {
    yield large
  }
  await new BucketStore(client, { scheme: 's3', bucket: 'backups' }).put('b1', once(), signal)
  expect(asked.map(({ body }) => body.equals(large))).toEqual([true, true])
})

it('a bucket may be part of the host’s name, behind a proxy', async () => {
  const { asked, settings, port } = await rig((_, answer) => say(answer, 200, '<ListBucketResult/>'))
  const proxyEnv = { HTTP_PROXY: `http://127.0.0.1:${port}` }
  const endpoint = new URL('http://s3.example')
  const client = new BucketClient(
    { ...settings, endpoint, virtualHost: true },
    { clock: new HastyClock(), random: new SeededRandom(1), proxyEnv },
  )
  closing.push(() => client.close())
  await new BucketStore(client, { scheme: 's3', bucket: 'backups' }).list(signal)
  expect(asked[0]?.url).toContain('http://backups.s3.example/?list-type=2')
  expect(asked[0]?.headers.host).toBe('backups.s3.example')
})

it('a token goes along as it is, and nothing is signed', async () => {
  const tools = { clock: new HastyClock(), random: new SeededRandom(1) }
  const { asked, settings } = await rig((_, answer) => say(answer, 200))
  const client = new BucketClient({ ...settings, credentials: { token: 'ya29.short-lived' } }, tools)
  closing.push(() => client.close())
  await new BucketStore(client, { scheme: 'gs', bucket: 'backups' }).put('b1', content('small'), signal)
  expect(asked[0]?.headers.authorization).toBe('Bearer ya29.short-lived')
  expect(asked[0]?.headers).not.toHaveProperty('x-amz-date')
  expect(asked[0]?.headers).toHaveProperty('content-md5')
  expect(
    new BucketClient({ ...settings, credentials: { token: 't' } }, { ...tools, sum: 'sha256' }).sum,
  ).toBeUndefined()
})

it('one who is told to stop stops, also between two tries', async () => {
  const stop = new AbortController()
  const { store } = await rig(
    (_, answer) => {
      say(answer, 503)
      setImmediate(() => stop.abort(new Error('told to stop')))
    },
    { attempts: 1_000 },
  )
  await expect(store.list(stop.signal)).rejects.toThrow('told to stop')
})

// Backup stores on real servers: Ceph's gateway, which checks signatures, and moto, which knows S3's corners.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { backupStores } from '../../src/adapters/backup/open-stores.ts'
import { BucketClient } from '../../src/adapters/backup/s3/bucket-client.ts'
import { BucketStore } from '../../src/adapters/backup/s3/bucket-store.ts'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import type { StorePlace } from '../../src/api/backup.ts'
import type { OpenStore } from '../../src/ports/backup-store.ts'
import { makeAuthority, makePair } from '../bed/certificates.ts'
import { startMoto } from '../bed/moto.ts'
import { serverOrReason } from '../bed/optional-server.ts'
import { startRadosgw } from '../bed/radosgw.ts'
import { stallingLine } from '../bed/stalling-line.ts'
import { startTlsFront } from '../bed/tls-front.ts'

const { signal } = new AbortController()
const servers = [await serverOrReason('RADOSGW', startRadosgw), await serverOrReason('MOTO', startMoto)]
const present = servers.filter((server) => typeof server !== 'string')
afterAll(async () => {
  await Promise.all(present.map((server) => server.stop()))
})

const partBytes = 5 * 1024 * 1024
/** Three parts and a byte. */
const large = 24 * 1024 * 1024 + 1
const folder = mkdtempSync(join(tmpdir(), 'slipway-stores-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const host = { run: () => Promise.reject(new Error('nothing is mounted here')) }
const tools = {
  clock: new SystemClock(),
  random: new SystemRandom(),
  host,
  root: '',
  folder,
  attempts: 3,
  silenceMs: 5_000,
}
const openStores = new Set<OpenStore>()
const open = async (place: Omit<StorePlace, 'name'>, secrets?: Readonly<Record<string, string>>) => {
  const store = await backupStores(tools).open({ name: 'here', ...place }, secrets, signal)
  openStores.add(store)
  return store
}
afterEach(async () => {
  for (const store of openStores) await store.close()
  openStores.clear()
})

async function* once(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}
async function contentOf(store: OpenStore, name: string): Promise<Buffer | undefined> {
  const found = await store.get(name, signal)
  if (!found) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of found) pieces.push(piece)
  return Buffer.concat(pieces)
}
const namesIn = async (store: OpenStore) => (await store.list(signal)).map(({ name }) => name).sort()

/** What every kind of store does. */
async function behavesAsAStore(store: OpenStore, largeBytes: number): Promise<void> {
  expect(await store.list(signal)).toEqual([])
  expect(await contentOf(store, 'none')).toBeUndefined()
  await store.remove('none', signal)
  await store.put('b1.json', once(Buffer.from('one')), signal)
  await store.put('b1.json', once(Buffer.from('an'), Buffer.from('other')), signal)
  await store.put('empty', once(), signal)
  expect((await contentOf(store, 'b1.json'))?.toString()).toBe('another')
  expect((await contentOf(store, 'empty'))?.length).toBe(0)
  const failing = async function* () {
    yield randomBytes(largeBytes)
    throw new Error('the source fails')
  }
  await expect(store.put('cut', failing(), signal)).rejects.toThrow('the source fails')
  await expect(store.put('b1.json', failing(), signal)).rejects.toThrow('the source fails')
  expect((await contentOf(store, 'b1.json'))?.toString()).toBe('another')
  const large = randomBytes(largeBytes)
  await store.put('large', once(large.subarray(0, 1_000_001), large.subarray(1_000_001)), signal)
  expect((await contentOf(store, 'large'))?.equals(large)).toBe(true)
  expect((await store.list(signal)).toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    { name: 'b1.json', bytes: 7 },
    { name: 'empty', bytes: 0 },
    { name: 'large', bytes: large.length },
  ])
  await store.remove('large', signal)
  await store.remove('b1.json', signal)
  expect(await namesIn(store)).toEqual(['empty'])
}

test('a folder', async () => {
  const store = await open({ path: join(folder, 'backups') })
  expect(store.location('b1')).toBe(`${folder}/backups/b1`)
  await behavesAsAStore(store, large)
})

test.skipIf(process.getuid?.() !== 0)('a folder on a full disk says so, and leaves nothing half-written', async () => {
  const full = join(folder, 'full')
  mkdirSync(full)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', full])
  try {
    const store = await open({ path: full })
    await expect(store.put('b1', once(randomBytes(900_000), randomBytes(900_000)), signal)).rejects.toMatchObject({
      code: 'DiskTooFull',
      message: expect.stringContaining(`${full}/b1`),
    })
    expect(readdirSync(full)).toEqual([])
    await store.put('b2', once(randomBytes(900_000)), signal)
  } finally {
    execFileSync('umount', [full])
  }
})

describe.each(present.map((server) => ({ name: server.name, server })))('a bucket of $name', ({ server }) => {
  const { endpoint, keys } = server
  const settings = { endpoint: new URL(endpoint), virtualHost: false, region: 'us-east-1', credentials: { keys } }
  const client = (bucket: string) => new BucketClient({ ...settings, bucket }, tools)
  const makeBucket = async (bucket: string) => {
    await client(bucket).send({ method: 'PUT', key: '', what: 'making' }, signal)
    return bucket
  }
  const uploadsIn = async (bucket: string) => {
    const query = { uploads: '' }
    const { body } = await client(bucket).send({ method: 'GET', key: '', query, what: 'looking at' }, signal)
    return [...body.matchAll(/<UploadId>/g)].length
  }
  const s3 = (bucket: string) => ({ bucket, endpoint, secret: 'unused' })

  test('keeps what it is given, whole or not at all', async () => {
    const bucket = await makeBucket('whole')
    const store = await open({ s3: { ...s3(bucket), prefix: 'prod/etcd' } }, keys)
    expect(store.location('b1')).toBe('s3://whole/prod/etcd/b1')
    await behavesAsAStore(store, server.knowsParts ? large : partBytes - 1)
    expect(await uploadsIn(bucket)).toBe(0)
    expect(await namesIn(await open({ s3: s3(bucket) }, keys))).toEqual([])
  })

  test('speaks to GCS’s signers in the same words', async () => {
    const bucket = await makeBucket('as-gcs')
    const store = await open({ gcs: { bucket, endpoint, secret: 'unused' } }, keys)
    expect(store.location('b1')).toBe('gs://as-gcs/b1')
    await store.put('b1', once(Buffer.from('hello')), signal)
    expect((await contentOf(store, 'b1'))?.toString()).toBe('hello')
  })

  test('is listed page by page', async () => {
    const store = new BucketStore(client(await makeBucket('pages')), { scheme: 's3', bucket: 'pages', pageNames: 2 })
    openStores.add(store)
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await store.put(name, once(Buffer.from(name)), signal)
    expect(await namesIn(store)).toEqual(names)
  })

  test('that is not there is refused by name, whatever is asked', async () => {
    const store = await open({ s3: s3('nowhere') }, keys)
    const refused = { code: 'StoreRefused', message: expect.stringContaining('nowhere') }
    await expect(store.put('b1', once(Buffer.from('x')), signal)).rejects.toMatchObject(refused)
    await expect(store.put('b1', once(randomBytes(12 * 1024 * 1024)), signal)).rejects.toMatchObject(refused)
    await expect(store.list(signal)).rejects.toMatchObject(refused)
    await expect(store.get('b1', signal)).rejects.toMatchObject(refused)
    await expect(store.remove('b1', signal)).rejects.toMatchObject(refused)
  })

  if (server.knowsParts) {
    test('keeps nothing of an upload that was told to stop, nor of one whose writer died', async () => {
      const bucket = await makeBucket('stopped')
      const store = new BucketStore(client(bucket), { scheme: 's3', bucket, partBytes })
      openStores.add(store)
      await client(bucket).send({ method: 'POST', key: 'b1', query: { uploads: '' }, what: 'beginning' }, signal)
      expect(await uploadsIn(bucket)).toBe(1)
      const stop = new AbortController()
      const endless = async function* () {
        for (let count = 0; ; count++) {
          if (count === 4) stop.abort(new Error('told to stop'))
          yield randomBytes(partBytes)
        }
      }
      await expect(store.put('b1', endless(), stop.signal)).rejects.toThrow('told to stop')
      expect(await uploadsIn(bucket)).toBe(0)
      expect(await store.list(signal)).toEqual([])
    })
  }

  if (server.checksSignatures) {
    test('refuses wrong credentials, and no secret is told', async () => {
      const bucket = await makeBucket('locked')
      const cases = [
        { ...keys, secretAccessKey: 'guessed-wrongly' },
        { ...keys, accessKeyID: 'NOBODY' },
      ]
      for (const wrong of cases) {
        const store = await open({ s3: s3(bucket) }, wrong)
        const refusal = await store.put('b1', once(Buffer.from('x')), signal).catch((error: unknown) => error)
        expect(refusal).toMatchObject({ code: 'StoreRefused', nextStep: expect.stringContaining('Secret') })
        expect(JSON.stringify(refusal) + String(refusal)).not.toContain(wrong.secretAccessKey)
      }
      await expect(open({ s3: s3(bucket) }, {})).rejects.toMatchObject({ code: 'StoreRefused' })
    })
  }

  test.each(['md5', 'sha256'] as const)(
    'takes what is uploaded in parts, each signed, with sums of %s',
    async (sum) => {
      const place = { name: 'here', s3: s3(await makeBucket(`in-parts-${sum}`)) }
      const store = await backupStores({ ...tools, sum }).open(place, keys, signal)
      openStores.add(store)
      await store.put('small', once(Buffer.from('hello')), signal)
      await store.remove('small', signal)
      await store.put('large', once(randomBytes(large)), signal)
      expect(await store.list(signal)).toEqual([{ name: 'large', bytes: large }])
    },
  )

  test('is reached over TLS by its own authority only', async () => {
    const bucket = await makeBucket('secured')
    const authority = makeAuthority('store-ca')
    const tls = await startTlsFront(endpoint, makePair(authority, { name: 'store', ips: ['127.0.0.1'] }))
    try {
      const place = { bucket, endpoint: tls.url, secret: 'unused' }
      const trusting = await open({ s3: { ...place, ca: authority.certificate } }, keys)
      await trusting.put('b1', once(Buffer.from('hello')), signal)
      expect((await contentOf(trusting, 'b1'))?.toString()).toBe('hello')
      const sent = randomBytes(server.knowsParts ? large : partBytes - 1)
      await trusting.put('b2', once(sent), signal)
      expect((await contentOf(trusting, 'b2'))?.equals(sent)).toBe(true)
      const strict = await open({ s3: place }, keys)
      await expect(strict.list(signal)).rejects.toMatchObject({
        code: 'StoreRefused',
        nextStep: expect.stringContaining('ca of the backup store'),
      })
    } finally {
      tls.stop()
    }
  })

  test('behind a line that falls silent in the middle is unreachable, and works again when it flows', async () => {
    const bucket = await makeBucket('silent')
    const line = await stallingLine(endpoint)
    try {
      const behind = new BucketClient(
        { ...settings, endpoint: new URL(line.url), bucket },
        { ...tools, attempts: 2, silenceMs: 1_000 },
      )
      const store = new BucketStore(behind, { scheme: 's3', bucket, partBytes })
      openStores.add(store)
      const falling = async function* () {
        yield randomBytes(2 * partBytes + 1)
        line.stall()
        yield randomBytes(partBytes)
      }
      await expect(store.put('b1', falling(), signal)).rejects.toMatchObject({ code: 'StoreUnreachable' })
      await expect(store.list(signal)).rejects.toMatchObject({ code: 'StoreUnreachable' })
      line.flow()
      // What was on the line still reaches the server, and the end of it comes last.
      await expect.poll(() => store.list(signal)).toEqual([])
      await store.put('b1', once(Buffer.from('hello')), signal)
      expect((await contentOf(store, 'b1'))?.toString()).toBe('hello')
    } finally {
      await line.stop()
    }
  })

  if (server.knowsParts) {
    test('whose server goes away in the middle is unreachable, and works again when it is back', async () => {
      const bucket = await makeBucket('fragile')
      const store = new BucketStore(client(bucket), { scheme: 's3', bucket, partBytes })
      openStores.add(store)
      const killing = async function* () {
        yield randomBytes(2 * partBytes + 1)
        await server.kill()
        yield randomBytes(partBytes)
      }
      await expect(store.put('b1', killing(), signal)).rejects.toMatchObject({ code: 'StoreUnreachable' })
      await server.restart()
      // It keeps everything in memory.
      await makeBucket(bucket)
      expect(await store.list(signal)).toEqual([])
      await store.put('b1', once(randomBytes(2 * partBytes + 1)), signal)
      expect(await uploadsIn(bucket)).toBe(0)
      expect(await namesIn(store)).toEqual(['b1'])
    })
  }
})

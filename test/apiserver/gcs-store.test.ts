// A GCS store on a server made for GCS. It speaks the reading half of the XML API, so what is stored comes in by the other API here;
// storing in the same words is tried on the servers of S3.

import { createHash, randomBytes } from 'node:crypto'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { backupStores } from '../../src/adapters/backup/open-stores.ts'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { clearOutdated, readManifests } from '../../src/agent/backup/manifests.ts'
import type { BackupManifest } from '../../src/api/backup.ts'
import type { OpenStore } from '../../src/ports/backup-store.ts'
import { startFakeGcs } from '../bed/fake-gcs.ts'
import { serverOrReason } from '../bed/optional-server.ts'

const { signal } = new AbortController()
const server = await serverOrReason('FAKE-GCS-SERVER', startFakeGcs)
const openStores = new Set<OpenStore>()
afterEach(async () => {
  for (const store of openStores) await store.close()
  openStores.clear()
})

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
async function contentOf(store: OpenStore, name: string): Promise<Buffer | undefined> {
  const found = await store.get(name, signal)
  if (!found) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of found) pieces.push(piece)
  return Buffer.concat(pieces)
}
const manifestOf = (name: string, at: string, content: Uint8Array): BackupManifest => ({
  ...{ name, at, node: 'cp1', cluster: '1', etcd: '3.6.8', revision: '7', compression: 'zstd', verified: 'Hash' },
  ...{ sha256: sha256(content), bytes: content.length },
  ...{ snapshotSha256: sha256(content), snapshotBytes: content.length },
})

describe.skipIf(typeof server === 'string')('a bucket of fake-gcs-server', () => {
  const gcs = typeof server === 'string' ? undefined : server
  if (!gcs) return
  afterAll(() => gcs.stop())
  const tools = {
    ...{ clock: new SystemClock(), random: new SystemRandom(), root: '', folder: '/nowhere' },
    ...{ host: { run: () => Promise.reject(new Error('nothing is mounted here')) }, attempts: 2, silenceMs: 5_000 },
  }
  const secrets = [{ token: 'an-access-token' }, { accessKeyID: 'GOOG1E', secretAccessKey: 'hmac' }] as const
  const open = async (bucket: string, prefix?: string, keys: (typeof secrets)[number] = secrets[0]) => {
    const place = { bucket, endpoint: gcs.endpoint, secret: 'unused', ...(prefix !== undefined && { prefix }) }
    const store = await backupStores(tools).open({ name: 'here', gcs: place }, keys, signal)
    openStores.add(store)
    return store
  }

  test.each(secrets)('gives back, lists and removes what lies in its folder, with %o', async (keys) => {
    const bucket = await gcs.makeBucket(`read-${'token' in keys ? 'token' : 'keys'}`)
    const large = randomBytes(24 * 1024 * 1024 + 1)
    for (const [name, content] of Object.entries({ 'prod/etcd/b1': large, 'prod/etcd/empty': Buffer.alloc(0) })) {
      await gcs.upload(bucket, name, content)
    }
    for (const name of ['prod/etcd/deeper/b9', 'prod/other', 'b0'])
      await gcs.upload(bucket, name, Buffer.from('not ours'))
    const store = await open(bucket, 'prod/etcd', keys)
    expect(store.location('b1')).toBe(`gs://${bucket}/prod/etcd/b1`)
    expect((await store.list(signal)).toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: 'b1', bytes: large.length },
      { name: 'empty', bytes: 0 },
    ])
    expect((await contentOf(store, 'b1'))?.equals(large)).toBe(true)
    expect((await contentOf(store, 'empty'))?.length).toBe(0)
    expect(await contentOf(store, 'none')).toBeUndefined()
    await store.remove('b1', signal)
    await store.remove('b1', signal)
    expect(await store.list(signal)).toEqual([{ name: 'empty', bytes: 0 }])
    expect((await (await open(bucket)).list(signal)).map(({ name }) => name)).toEqual(['b0'])
  })

  test('is cleared as the retention says, and tells an object that was altered', async () => {
    const bucket = await gcs.makeBucket('retention')
    const made = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04'].map((day, at) => {
      const content = randomBytes(1_000)
      return { content, manifest: manifestOf(`b${at}`, `${day}T00:00:00Z`, content) }
    })
    for (const { content, manifest } of made) {
      await gcs.upload(bucket, manifest.name, content)
      await gcs.upload(bucket, `${manifest.name}.json`, Buffer.from(JSON.stringify(manifest)))
    }
    const store = await open(bucket)
    const newest = made.at(-1)
    if (!newest) throw new Error('there are four')
    expect((await readManifests(store, signal)).map(({ manifest }) => manifest.name)).toEqual(['b3', 'b2', 'b1', 'b0'])
    await gcs.upload(bucket, 'b2', randomBytes(999))
    const now = new Date('2026-01-05T00:00:00Z')
    const { removed, kept } = await clearOutdated(store, newest.manifest, { count: 2 }, now, signal)
    expect(removed).toBe(1)
    expect(kept.map(({ name }) => name)).toEqual(['b3', 'b1'])
    await gcs.upload(bucket, 'b3', randomBytes(1_000))
    expect(sha256((await contentOf(store, 'b3')) ?? Buffer.alloc(0))).not.toBe(newest.manifest.sha256)
  })

  test('that is not there is never taken for an empty one', async () => {
    const store = await open('nowhere')
    await expect(store.list(signal)).rejects.toMatchObject({ message: expect.stringContaining('nowhere') })
    await expect(store.put('b1', pieces(randomBytes(10)), signal)).rejects.toMatchObject({ code: 'StoreRefused' })
  })

  test('whose server does not take the uploads of the XML API is refused, and has nothing of them', async () => {
    const store = await open(await gcs.makeBucket('json-only'))
    for (const bytes of [10, 9 << 20]) {
      await expect(store.put('b1', pieces(randomBytes(bytes)), signal)).rejects.toMatchObject({ code: 'StoreRefused' })
    }
    expect(await store.list(signal)).toEqual([])
  })
})

async function* pieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

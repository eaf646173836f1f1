// Backups of a real etcd of three members, through the real formats, into real stores.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupCodec } from '../../src/adapters/backup/backup-codec.ts'
import { backupStores } from '../../src/adapters/backup/open-stores.ts'
import { BucketClient } from '../../src/adapters/backup/s3/bucket-client.ts'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { nodeRequests, nodeStreams } from '../../src/adapters/secure-requests/node-requests.ts'
import { makeBackup } from '../../src/agent/backup/make-backup.ts'
import type { BackupManifest, BackupRequest, BackupSecrets, StorePlace } from '../../src/api/backup.ts'
import type { BackupStores } from '../../src/ports/backup-store.ts'
import type { SecureRequests } from '../../src/ports/secure-requests.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { makePair } from '../bed/certificates.ts'
import { EtcdCluster } from '../bed/etcd-cluster.ts'
import { startMoto } from '../bed/moto.ts'
import { serverOrReason } from '../bed/optional-server.ts'
import { programFolder, sayToStderr, whyNoApiServer } from '../bed/programs.ts'
import { etcdVersion } from '../bed/versions.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const clock = new SystemClock()
const random = new SystemRandom()
const values = 24
let etcd: EtcdCluster
let etcdutl: string

const hostOf = (root: string) => new LinuxHost({ disk: new FileDisk(), log: silentLog, root })
const storesOf = (root: string) =>
  backupStores({ clock, random, host: hostOf(root), root, folder: '/mounts', attempts: 3, silenceMs: 5_000 })
const toolsOf = (name: string, stores?: BackupStores) => {
  const { root } = etcd.member(name)
  const parts = {
    codec: backupCodec,
    requests: nodeRequests,
    streams: nodeStreams,
    clock,
    log: silentLog,
    nodeName: name,
  }
  return { ...parts, host: hostOf(root), stores: stores ?? storesOf(root) }
}
const folder: StorePlace = { name: 'here', path: '/var/backups/etcd' }
const request = (part: Partial<BackupRequest> = {}): BackupRequest => ({
  request: 'r1',
  name: 'b1',
  verify: 'Hash',
  store: folder,
  timeout: '10m',
  ...part,
})
const backUp = (part: Partial<BackupRequest> = {}, secrets: BackupSecrets = {}, member = 'cp1') =>
  makeBackup(toolsOf(member), request(part), secrets, signal)

async function opened(place: StorePlace, manifest: BackupManifest, secrets: BackupSecrets, member = 'cp1') {
  const store = await storesOf(etcd.member(member).root).open(place, secrets.store, signal)
  const stored = await store.get(manifest.name, signal)
  if (!stored) throw new Error('it is not there')
  const pieces: Uint8Array[] = []
  for await (const piece of backupCodec.decode(stored, manifest, secrets.encryption?.key)) pieces.push(piece)
  await store.close()
  return Buffer.concat(pieces)
}

/** What etcd's own program thinks of it. */
async function judged(snapshot: Buffer): Promise<{ readonly revision: number; readonly totalKey: number }> {
  const path = join(etcd.dir, 'judged.db')
  await writeFile(path, snapshot)
  const said = execFileSync(etcdutl, ['snapshot', 'status', path, '--write-out=json'], { encoding: 'utf8' })
  return JSON.parse(said) as { revision: number; totalKey: number }
}

async function ask(path: string, body: object, member = 'cp1'): Promise<void> {
  const { certificate, key } = makePair(etcd.authority, { name: 'test' })
  const credentials = { ca: etcd.authority.certificate, certificate, key }
  const url = `${etcd.member(member).url}${path}`
  const sent = { method: 'POST', url, body: JSON.stringify(body), credentials, timeoutMs: 10_000 } as const
  const { status, body: said } = await nodeRequests.send(sent, signal)
  if (status !== 200) throw new Error(said)
}

describe.skipIf(missing)('a backup of a real etcd', () => {
  beforeAll(async () => {
    const programs = ['etcdutl']
    etcdutl = join(await programFolder({ project: 'etcd', version: etcdVersion, programs }, sayToStderr), 'etcdutl')
    etcd = await EtcdCluster.start()
    for (let count = 0; count < values; count++) {
      const value = randomBytes(500_000).toString('base64')
      await ask('/v3/kv/put', { key: btoa(`/registry/${count}`), value })
    }
  })
  afterAll(async () => {
    await etcd?.stop()
  })

  test('lies in a folder of the host, readable by root alone, and is what etcd gave', async () => {
    const { manifest, location, kept, reason } = await backUp()
    expect(reason).toBeUndefined()
    expect(location).toBe('/var/backups/etcd/b1')
    expect(kept).toEqual([manifest])
    expect(manifest).toMatchObject({ node: 'cp1', etcd: etcdVersion.slice(1), compression: 'zstd', verified: 'Hash' })
    expect(Number(manifest.revision)).toBe(values + 1)
    expect(manifest.bytes).toBeGreaterThan(values * 500_000)
    const found = join(etcd.member('cp1').root, '/var/backups/etcd/b1')
    expect((await stat(found)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(`${found}.json`, 'utf8'))).toEqual(manifest)
    expect(await judged(await opened(folder, manifest, {}))).toMatchObject({ revision: values + 1 })
  })

  test('of any member is one of the same cluster, encrypted as asked', async () => {
    const key = randomBytes(32).toString('base64')
    const store: StorePlace = { ...folder, encryption: { method: 'Aes256Gcm', secret: 'k' } }
    const first = await backUp({ store }, { encryption: { key } }, 'cp2')
    const second = await backUp({ store }, { encryption: { key } }, 'cp3')
    expect(first.manifest).toMatchObject({ encryption: 'Aes256Gcm', cluster: second.manifest.cluster })
    expect(await judged(await opened(store, first.manifest, { encryption: { key } }, 'cp2'))).toMatchObject({
      revision: values + 1,
    })
    const wrong = { encryption: { key: randomBytes(32).toString('base64') } }
    await expect(opened(store, first.manifest, wrong, 'cp2')).rejects.toMatchObject({ code: 'BackupKeyWrong' })
  })

  test('is made of an etcd elsewhere with the certificates that are given', async () => {
    const { certificate, key } = makePair(etcd.authority, { name: 'backup' })
    const secrets = { etcd: { 'ca.crt': etcd.authority.certificate, 'tls.crt': certificate, 'tls.key': key } }
    const endpoints = ['https://127.0.0.1:1', etcd.member('cp2').url]
    const root = await etcd.raiseElsewhere('elsewhere', [])
    const tools = { ...toolsOf('cp1'), host: hostOf(root), stores: storesOf(root) }
    const { manifest } = await makeBackup(tools, request({ etcd: { endpoints } }), secrets, signal)
    expect(Number(manifest.revision)).toBe(values + 1)
    const stranger = { etcd: { 'ca.crt': etcd.authority.certificate } }
    await expect(
      makeBackup(tools, request({ etcd: { endpoints: [etcd.member('cp2').url] } }), stranger, signal),
    ).rejects.toMatchObject({ code: 'CannotReach' })
  })

  test('in S3 goes up in parts, and one that was altered there is known', async (context) => {
    const moto = await serverOrReason('MOTO', startMoto)
    if (typeof moto === 'string') return context.skip(moto)
    try {
      const { endpoint, keys } = moto
      const settings = { bucket: 'backups', endpoint: new URL(endpoint), virtualHost: false, region: 'us-east-1' }
      const client = new BucketClient({ ...settings, credentials: { keys } }, { clock, random })
      await client.send({ method: 'PUT', key: '', what: 'making' }, signal)
      const store: StorePlace = {
        name: 'far',
        s3: { bucket: 'backups', prefix: 'prod', endpoint, secret: 's' },
        encryption: { secret: 'k' },
        retention: { count: 1 },
      }
      const secrets = { store: keys, encryption: { key: 'a passphrase of some length' } }
      await backUp({ store, name: 'old' }, secrets)
      const { manifest, removed, kept, location } = await backUp({ store, name: 'new' }, secrets)
      expect({ removed, location }).toEqual({ removed: 1, location: 's3://backups/prod/new' })
      expect(kept).toEqual([manifest])
      expect(manifest.encryption).toBe('Age')
      expect(await judged(await opened(store, manifest, secrets))).toMatchObject({ revision: values + 1 })
      const body = randomBytes(manifest.bytes)
      await client.send({ method: 'PUT', key: 'prod/new', body, what: 'altering' }, signal)
      await expect(opened(store, manifest, secrets)).rejects.toMatchObject({ code: 'BackupDamaged' })
      client.close()
    } finally {
      await moto.stop()
    }
  })

  test('is not made while etcd has no space', async () => {
    await ask('/v3/maintenance/alarm', { action: 'ACTIVATE', alarm: 'NOSPACE' })
    await expect(backUp({ name: 'full' })).rejects.toMatchObject({
      code: 'EtcdAlarm',
      message: expect.stringContaining('NOSPACE'),
    })
    await ask('/v3/maintenance/alarm', { action: 'DEACTIVATE', alarm: 'NOSPACE' })
    await expect(stat(join(etcd.member('cp1').root, '/var/backups/etcd/full'))).rejects.toThrow('ENOENT')
  })

  test('ends where etcd dies in the middle, and nothing of it is left', async () => {
    const real = storesOf(etcd.member('cp3').root)
    const killing: BackupStores = {
      open: async (place, secrets, stop) => {
        const store = await real.open(place, secrets, stop)
        const put = store.put.bind(store)
        store.put = (name, content, ending) => put(name, killingAfterFirst(content), ending)
        return store
      },
    }
    const making = makeBackup(toolsOf('cp3', killing), request({ name: 'torn' }), {}, signal)
    await expect(making).rejects.toMatchObject({ code: 'SnapshotBroken' })
    await expect(stat(join(etcd.member('cp3').root, '/var/backups/etcd/torn'))).rejects.toThrow('ENOENT')
    await expect(backUp({ name: 'down' }, {}, 'cp3')).rejects.toMatchObject({ code: 'CannotReach' })
    // The others are worth saving without it.
    expect((await backUp({ name: 'meanwhile' })).manifest.name).toBe('meanwhile')
    await etcd.launch('cp3')
  })

  /** Which is then the newest revision. */
  const writeMore = async (): Promise<number> => {
    for (let count = 0; count < 10; count++) {
      await ask('/v3/kv/put', { key: btoa(`/registry/late-${count}`), value: randomBytes(500_000).toString('base64') })
    }
    return Number((await etcd.gateway.status(etcd.member('cp1').url, signal)).header.revision)
  }

  /** Not the one that is written to, and without which all wait for another leader. */
  const follower = async (): Promise<string> => ((await etcd.leader()).name === 'cp2' ? 'cp3' : 'cp2')

  test('is not made of a member that stands still while the others go on', async () => {
    const still = await follower()
    etcd.freeze(still)
    try {
      await writeMore()
      await expect(backUp({ name: 'frozen' }, {}, still)).rejects.toMatchObject({ code: 'CannotReach' })
    } finally {
      etcd.thaw(still)
    }
    await expect(stat(join(etcd.member(still).root, '/var/backups/etcd/frozen'))).rejects.toThrow('ENOENT')
  })

  test('of a member that falls behind while it is looked at waits until it has caught up', async () => {
    const slow = await follower()
    const { url } = etcd.member(slow)
    let newest = 0
    const requests: SecureRequests = {
      send: async (sent, stop) => {
        const answer = await nodeRequests.send(sent, stop)
        if (newest > 0 || !sent.url.startsWith(url)) return answer
        etcd.freeze(slow)
        newest = await writeMore()
        setTimeout(() => etcd.thaw(slow), 1_000)
        return answer
      },
    }
    const { manifest } = await makeBackup({ ...toolsOf(slow), requests }, request({ name: 'behind' }), {}, signal)
    expect(Number(manifest.revision)).toBe(newest)
    expect(await judged(await opened(folder, manifest, {}, slow))).toMatchObject({ revision: newest })
  })

  test('is not made of a member that the majority has left behind', async () => {
    await etcd.kill('cp2')
    await etcd.kill('cp3')
    await expect(backUp({ name: 'lonely' })).rejects.toMatchObject({ code: 'EtcdUnhealthy' })
    await Promise.all([etcd.launch('cp2'), etcd.launch('cp3')])
  })
})

async function* killingAfterFirst(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const piece of content) {
    yield piece
    if (isFirst) await etcd.kill('cp3')
    isFirst = false
  }
}

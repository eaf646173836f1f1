import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BackupBench, content, forEver, secrets } from '../../../test/agent/backup-bench.ts'
import { snapshotFile } from '../../../test/agent/recorded-snapshot.ts'
import { makeAuthority } from '../../../test/bed/certificates.ts'
import type { BackupManifest } from '../../api/backup.ts'
import { nodeStates } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { clusterIdentity } from './cluster-identity.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('a backup that is asked for', () => {
  it('is stored, read back, and told of with all that a restore needs to know', async () => {
    const bench = new BackupBench().launch()
    const answer = await bench.ask()
    const stored = snapshotFile(content)
    expect(bench.store.objects.get('b1')?.equals(stored)).toBe(true)
    expect(answer).toMatchObject({ state: 'Succeeded', store: 'nightly', location: 'memory://b1', removed: 0 })
    expect(answer).not.toHaveProperty('reason')
    const manifest: BackupManifest = {
      name: 'b1',
      at: '2026-01-01T00:00:00.000Z',
      node: 'w1',
      cluster: '2591492842302393877',
      etcd: '3.6.8',
      revision: '1',
      sha256: sha256(stored),
      bytes: stored.length,
      snapshotSha256: sha256(stored),
      snapshotBytes: stored.length,
      compression: 'zstd',
      verified: 'Hash',
    }
    expect(answer?.manifest).toEqual(manifest)
    expect(answer?.kept).toEqual([manifest])
    expect(JSON.parse(String(bench.store.objects.get('b1.json')))).toEqual(manifest)
    expect(bench.store.puts).toEqual(['b1', 'b1.json'])
  })

  it('tells of no secret, but leaves the host what it needs when the API is gone', async () => {
    const bench = new BackupBench().launch()
    await bench.ask({ store: { name: 'nightly', path: '/var/backups', encryption: { secret: 'k' } } })
    expect(bench.store.opened[0]?.secrets).toEqual(secrets.store)
    for (const hidden of ['never-to-be-told', 'nor-this-one']) {
      expect(JSON.stringify(bench.cluster.node)).not.toContain(hidden)
      expect(bench.logged(hidden)).toEqual([])
      const holding = [...bench.disk.files].filter(([, { content: text }]) => text.includes(hidden))
      expect(holding.map(([path]) => path)).toEqual(['/var/lib/slipway/backup-store.json'])
    }
  })

  it('leaves the host nothing of a store that is no more, but of another one', async () => {
    const bench = new BackupBench().launch()
    const kept = '/var/lib/slipway/backup-store.json'
    await bench.ask()
    expect(bench.cluster.agent?.backupStore).toBe('nightly')
    const tell = (forgetStore: string) => {
      const { node } = bench.cluster
      if (node) bench.cluster.api.put(nodeStates, { ...node, spec: { ...node.spec, forgetStore } })
    }
    tell('other')
    await bench.clock.advance(60_000)
    expect(bench.disk.files.has(kept)).toBe(true)
    // What an agent of before has left is known to the next.
    bench.kill()
    bench.launch()
    tell('nightly')
    await bench.clock.until(() => bench.cluster.agent?.backupStore === undefined)
    expect(bench.disk.files.has(kept)).toBe(false)
    expect(bench.answer).toMatchObject({ state: 'Succeeded' })
  })

  it('is Running meanwhile, and taken out of the status when nobody asks any more', async () => {
    const bench = new BackupBench().launch()
    bench.snapshots.held = forEver
    bench.place({})
    await bench.clock.until(() => bench.answer?.state === 'Running')
    expect(bench.answer).toEqual({
      request: 'op-1/1',
      store: 'nightly',
      state: 'Running',
      startedAt: '2026-01-01T00:00:00.000Z',
    })
    bench.place(undefined)
    await bench.clock.until(() => bench.answer === undefined)
    expect([...bench.store.objects.keys()]).toEqual([])
    expect(bench.store.open_).toBe(0)
  })

  it('gives way to another question', async () => {
    const bench = new BackupBench().launch()
    bench.snapshots.held = forEver
    bench.place({})
    await bench.clock.until(() => bench.answer?.state === 'Running')
    bench.snapshots.held = () => Promise.resolve()
    expect(await bench.ask({ request: 'op-1/2', name: 'b2' })).toMatchObject({ state: 'Succeeded' })
    expect([...bench.store.objects.keys()]).toEqual(['b2', 'b2.json'])
  })

  it('takes no longer than it may', async () => {
    const bench = new BackupBench().launch()
    bench.snapshots.held = forEver
    const answer = await bench.ask({ timeout: '5m' })
    expect(answer).toMatchObject({ state: 'Failed', reason: { code: 'BackupTimedOut' } })
    expect(answer?.finishedAt).toBe('2026-01-01T00:05:00.000Z')
    expect([...bench.store.objects.keys()]).toEqual([])
  })

  it('is made of an etcd elsewhere that is worth saving', async () => {
    const bench = new BackupBench().launch()
    bench.etcd.down.add('cp1')
    const endpoints = ['https://10.0.0.1:2379', 'https://10.0.0.2:2379']
    expect(await bench.ask({ etcd: { endpoints } })).toMatchObject({ state: 'Succeeded' })
  })
})

describe('an agent that dies', () => {
  it('in the middle begins it again under the same name', async () => {
    const bench = new BackupBench().launch()
    bench.snapshots.held = forEver
    bench.place({})
    await bench.clock.until(() => bench.answer?.state === 'Running')
    bench.kill()
    bench.snapshots.held = () => Promise.resolve()
    bench.launch()
    await bench.clock.until(() => bench.answer?.state === 'Succeeded')
    expect(bench.store.puts).toEqual(['b1', 'b1.json'])
  })

  it('after its answer does nothing twice', async () => {
    const bench = new BackupBench().launch()
    await bench.ask()
    bench.kill()
    bench.launch()
    await bench.clock.advance(60_000)
    expect(bench.snapshots.opened).toBe(1)
    expect(bench.answer).toMatchObject({ state: 'Succeeded' })
  })

  it('between the end and its answer tells it when it is back, and does nothing twice', async () => {
    const bench = new BackupBench().launch()
    bench.store.before = (what) => {
      if (what === 'list') bench.cluster.refusing = 'Unreachable'
      return Promise.resolve()
    }
    bench.place({})
    await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/backup.json'))
    bench.kill()
    bench.cluster.refusing = undefined
    bench.store.before = () => Promise.resolve()
    expect(bench.answer?.state).not.toBe('Succeeded')
    bench.launch()
    await bench.clock.until(() => bench.answer?.state === 'Succeeded')
    expect(bench.snapshots.opened).toBe(1)
  })

  it('and whose disk is new goes by the status', async () => {
    const bench = new BackupBench().launch()
    await bench.ask()
    bench.kill()
    bench.disk.files.clear()
    bench.launch()
    await bench.clock.advance(60_000)
    expect(bench.snapshots.opened).toBe(1)
  })
})

it('a store that is away for a moment while it is read back is asked again', async () => {
  const bench = new BackupBench()
  let failures = 2
  bench.store.before = (what) =>
    what === 'get' && failures-- > 0
      ? Promise.reject(new SlipwayError('StoreUnreachable', 'ECONNRESET'))
      : Promise.resolve()
  expect(await bench.launch().ask()).toMatchObject({ state: 'Succeeded' })
})

it('a backup is proven with what the store gives back', async () => {
  const bench = new BackupBench()
  const proven: Buffer[] = []
  bench.proof = {
    prove: async (snapshot, manifest) => {
      const pieces: Uint8Array[] = []
      for await (const piece of snapshot) pieces.push(piece)
      proven.push(Buffer.concat(pieces))
      expect(manifest).toMatchObject({ name: 'b1', verified: 'Restore' })
      expect(bench.store.objects.has('b1.json')).toBe(false)
    },
  }
  expect(await bench.launch().ask({ verify: 'Restore' })).toMatchObject({
    state: 'Succeeded',
    manifest: { verified: 'Restore' },
  })
  expect(proven[0]?.equals(snapshotFile(content))).toBe(true)
})

describe('old backups', () => {
  const store = { name: 'nightly', path: '/b', retention: { count: 2 } }

  it('go as the retention says, the object before its manifest; strangers stay', async () => {
    const bench = new BackupBench().launch()
    bench.store.objects.set('notes.json', Buffer.from('{"hello": 1}'))
    bench.store.objects.set('broken.json', Buffer.from('{'))
    for (const count of [1, 2, 3]) {
      await bench.ask({ request: `r${count}`, name: `b${count}`, store })
      await bench.clock.advance(60_000)
    }
    expect(bench.answer).toMatchObject({ removed: 1, kept: [{ name: 'b3' }, { name: 'b2' }] })
    expect(bench.store.removed).toEqual(['b1', 'b1.json'])
    expect([...bench.store.objects.keys()].sort()).toEqual(
      ['b2', 'b2.json', 'b3', 'b3.json', 'broken.json', 'notes.json'].sort(),
    )
  })

  it('of a cluster that is addressed alike stay: its etcd has the same id, and another authority', async () => {
    const bench = new BackupBench().launch()
    const [ours, theirs] = [makeAuthority('etcd-ca'), makeAuthority('etcd-ca')]
    for (const [at, { certificate }] of [theirs, theirs, ours, ours, ours].entries()) {
      bench.sealedText = JSON.stringify({ ...secrets, etcd: { 'ca.crt': certificate } })
      await bench.ask({ request: `r${at}`, name: `b${at}`, store: { ...store, retention: { count: 1 } } })
      await bench.clock.advance(60_000)
    }
    expect(bench.store.removed).toEqual(['b0', 'b0.json', 'b2', 'b2.json', 'b3', 'b3.json'])
    const clusters = bench.answer?.kept?.map(({ cluster }) => cluster)
    expect(clusters).toEqual([clusterIdentity(ours.certificate), clusterIdentity(theirs.certificate)])
  })

  it('that cannot be looked at do not undo a good one, and are told of', async () => {
    const bench = new BackupBench()
    bench.store.before = (what) =>
      what === 'list' ? Promise.reject(new SlipwayError('StoreRefused', 'may not list')) : Promise.resolve()
    const answer = await bench.launch().ask({ store })
    expect(answer).toMatchObject({ state: 'Succeeded', reason: { code: 'StoreRefused' } })
    expect(answer?.reason?.message).toContain('may not list')
  })

  it('a host without room for its notes says so beside a good backup', async () => {
    const bench = new BackupBench().launch()
    bench.snapshots.held = () => {
      bench.disk.failing = 'DiskFull'
      return Promise.resolve()
    }
    expect(await bench.ask()).toMatchObject({ state: 'Succeeded', reason: { code: 'DiskTooFull' } })
  })
})

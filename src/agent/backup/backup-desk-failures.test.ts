import { describe, expect, it } from 'vitest'
import { BackupBench, forEver } from '../../../test/agent/backup-bench.ts'
import type { BackupRequest } from '../../api/backup.ts'
import { SlipwayError } from '../../api/slipway-error.ts'

describe('what stands in the way is one reason, and nothing is left', () => {
  const failing = (what: string, error: SlipwayError) => (bench: BackupBench) => {
    bench.store.before = (operation, name) =>
      operation === what && name !== 'b1.json' ? Promise.reject(error) : Promise.resolve()
  }
  const down = new SlipwayError('StoreUnreachable', 'connect ECONNREFUSED')
  const cases: readonly {
    readonly name: string
    readonly code: string
    readonly arrange: (bench: BackupBench) => void
    readonly part?: Partial<BackupRequest>
  }[] = [
    { name: 'the store is down', code: 'StoreUnreachable', arrange: failing('put', down) },
    {
      name: 'the store cannot be opened',
      code: 'StoreRefused',
      arrange: failing('open', new SlipwayError('StoreRefused', 'no keys')),
    },
    { name: 'the store stays down while it is read back', code: 'StoreUnreachable', arrange: failing('get', down) },
    {
      name: 'the host’s disk is full',
      code: 'DiskTooFull',
      arrange: failing('put', new SlipwayError('DiskTooFull', 'ENOSPC')),
    },
    {
      name: 'the store keeps something else',
      code: 'BackupDamaged',
      arrange: ({ store }) => {
        store.altered = (_, bytes) => Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)])
      },
    },
    {
      name: 'the store loses it',
      code: 'BackupDamaged',
      arrange: ({ store }) => {
        const { put } = store
        store.put = async (name, bytes, signal) => {
          await put.call(store, name, bytes, signal)
          store.objects.delete(name)
        }
      },
    },
    {
      name: 'the snapshot is cut off',
      code: 'SnapshotBroken',
      arrange: ({ snapshots }) => {
        snapshots.lines = snapshots.lines.slice(0, 3_000)
      },
    },
    {
      name: 'etcd refuses a snapshot',
      code: 'SnapshotBroken',
      arrange: ({ snapshots }) => {
        snapshots.status = 403
        snapshots.lines = '{"code":7, "message":"etcdserver: permission denied"}'
      },
    },
    { name: 'the member lags', code: 'EtcdLagging', arrange: ({ etcd }) => etcd.applied.set('cp1', '5') },
    { name: 'the member has no majority', code: 'EtcdUnhealthy', arrange: ({ etcd }) => etcd.cutOff.add('cp1') },
    { name: 'etcd does not answer', code: 'EtcdUnknown', arrange: ({ etcd }) => etcd.down.add('cp1') },
    {
      name: 'etcd has no space',
      code: 'EtcdAlarm',
      arrange: ({ etcd }) => {
        etcd.alarm = 'NOSPACE'
      },
    },
    { name: 'nothing tells of etcd', code: 'EtcdUnknown', arrange: () => undefined, part: { etcd: undefined } },
    {
      name: 'the sealed values are none',
      code: 'SecretUnreadable',
      arrange: (bench) => {
        bench.sealedText = 'hello'
      },
    },
    {
      name: 'no key came along',
      code: 'BackupKeyWrong',
      arrange: (bench) => {
        bench.sealedText = '{}'
      },
      part: { store: { name: 'nightly', path: '/b', encryption: { secret: 'k' } } },
    },
    {
      name: 'nothing can be restored here',
      code: 'RestoreUnproven',
      arrange: () => undefined,
      part: { verify: 'Restore' },
    },
    {
      name: 'the key cannot open what it closes',
      code: 'RestoreUnproven',
      arrange: (bench) => {
        bench.proof = { prove: () => Promise.resolve() }
        bench.sealedText = '{"encryption":{"key":"recipient"}}'
      },
      part: { verify: 'Restore', store: { name: 'nightly', path: '/b', encryption: { secret: 'k' } } },
    },
    {
      name: 'it cannot be restored',
      code: 'RestoreUnproven',
      arrange: (bench) => {
        bench.proof = { prove: () => Promise.reject(new SlipwayError('RestoreUnproven', 'etcd does not start')) }
      },
      part: { verify: 'Restore' },
    },
  ]

  it.each(cases)('$name', async ({ code, arrange, part }) => {
    const bench = new BackupBench()
    arrange(bench)
    const answer = await bench.launch().ask(part)
    expect(answer).toMatchObject({ state: 'Failed', reason: { code } })
    expect([...bench.store.objects.keys()]).toEqual([])
    expect(bench.disk.files.has('/var/lib/slipway/backup-store.json')).toBe(false)
    // Asked anew it is tried anew.
    bench.store.before = () => Promise.resolve()
    expect((await bench.ask({ ...part, request: 'op-1/2' }))?.request).toBe('op-1/2')
  })
})

it('a manifest whose answer was lost goes before its object', async () => {
  const bench = new BackupBench()
  const { put } = bench.store
  bench.store.put = async (name, bytes, signal) => {
    await put.call(bench.store, name, bytes, signal)
    if (name === 'b1.json') throw new SlipwayError('StoreUnreachable', 'socket hang up')
  }
  expect(await bench.launch().ask()).toMatchObject({ state: 'Failed', reason: { code: 'StoreUnreachable' } })
  expect([...bench.store.objects.keys()]).toEqual([])
  expect(bench.store.removed).toEqual(['b1.json', 'b1'])
})

it('what a failed backup leaves in a store that cannot be cleared is told', async () => {
  const bench = new BackupBench()
  bench.store.altered = (_, bytes) => bytes.subarray(1)
  bench.store.before = (what, name) =>
    what === 'remove' && name === 'b1'
      ? Promise.reject(new SlipwayError('StoreRefused', 'may not delete'))
      : Promise.resolve()
  const answer = await bench.launch().ask()
  expect(answer).toMatchObject({ state: 'Failed', reason: { code: 'BackupDamaged' } })
  expect(answer?.reason?.message).toContain('memory://b1 stays behind: may not delete')
  expect(bench.logged('may not delete').map(({ level }) => level)).toContain('warn')
})

it('and also where it was given up in the middle', async () => {
  const bench = new BackupBench()
  bench.proof = { prove: (_, __, signal) => forEver(signal) }
  bench.store.before = (what, name) =>
    what === 'remove' && name === 'b1' ? Promise.reject(new Error('may not delete')) : Promise.resolve()
  bench.launch().place({ verify: 'Restore' })
  await bench.clock.until(() => bench.store.objects.has('b1'))
  bench.place(undefined)
  await bench.clock.until(() => bench.logged('stays behind').length > 0)
  expect(bench.logged('stays behind')).toMatchObject([{ fields: { location: 'memory://b1', error: 'may not delete' } }])
})

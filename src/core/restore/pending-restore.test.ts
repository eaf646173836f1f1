import { describe, expect, it } from 'vitest'
import type { RestoreRecord, RestoreSource } from '../../api/restore-record.ts'
import { type AskedRestore, differences } from './pending-restore.ts'

const members = 'cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380'
const begun = (source: RestoreSource): RestoreRecord => ({
  ...{ restoreId: '00112233445566ff', isFirst: true, mark: 'm', startedAt: '2026-01-05T08:00:00Z' },
  backup: { name: 'b1', revision: '41', etcd: '3.6.8', snapshotSha256: 'ab' },
  site: {
    ...{ kind: 'StaticPod', name: 'cp1', dataDir: '/var/lib/etcd', peerURLs: 'https://10.0.0.1:2380' },
    ...{ initialCluster: members, etcd: { url: 'https://10.0.0.1:2379' }, manifests: '/m', components: [] },
    prefix: '/registry',
  },
  ...{ members, etcdutl: 'etcdutl', snapshot: '/s.db', source, aside: '/a', parked: '/p', begun: [], done: [] },
})
const folder = { folder: '/b', keyFile: '/k' }
const kept = { settings: '/var/lib/slipway/backup-store.json', folder: '/of-the-store' }

describe('a restore that was begun', () => {
  it.each<[string, RestoreSource, AskedRestore]>([
    ['without any option', folder, {}],
    ['by the same words', folder, { ...folder, name: 'b1', members, restoreId: '00112233445566ff' }],
    ['with the members in another order', folder, { members: members.split(',').toReversed().join(', ') }],
    ['with a place that did not count then either', folder, { ...folder, settings: '/s.json' }],
    ['by the note of the host', kept, { settings: kept.settings }],
    ['with a bare snapshot, whose name is none', { file: '/s' }, { file: '/s', name: 'x' }],
  ])('goes on %s', (_, source, asked) => {
    expect(differences(begun(source), asked)).toEqual([])
  })

  it.each<[RestoreSource, AskedRestore, readonly string[]]>([
    [folder, { name: 'b2' }, ['b2']],
    [folder, { members: 'cp1=https://10.0.0.1:2380' }, ['--members cp1=https://10.0.0.1:2380']],
    [folder, { restoreId: 'ffffffffffffffff' }, ['--restore-id ffffffffffffffff']],
    [folder, { folder: '/c', keyFile: '/k' }, ['--folder /c']],
    [folder, { file: '/s' }, ['--file /s']],
    [folder, { settings: '/s.json' }, ['--settings /s.json']],
    [folder, { folder: '/b', keyFile: '/other' }, ['--key-file /other']],
    [kept, { keyFile: '/k' }, ['--key-file /k']],
    [kept, { folder: '/of-the-store' }, ['--folder /of-the-store']],
  ])('is not what %j is asked for with %j', (source, asked, told) => {
    expect(differences(begun(source), asked)).toEqual(told)
  })
})

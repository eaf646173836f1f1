import { describe, expect, it } from 'vitest'
import type { RestoreRecord, RestoreSource } from '../../api/restore-record.ts'
import { otherMembers } from './other-members.ts'

const members = 'cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380,cp3=https://10.0.0.3:2380'
const record = (source: RestoreSource | undefined, all = members): RestoreRecord => ({
  restoreId: '00112233445566ff',
  isFirst: true,
  mark: 'ab',
  startedAt: '2026-01-05T08:00:00Z',
  backup: { name: 'b1', revision: '41', etcd: '3.6.8', snapshotSha256: 'ab' },
  site: {
    ...{ kind: 'StaticPod', name: 'cp1', dataDir: '/var/lib/etcd', peerURLs: 'https://10.0.0.1:2380' },
    ...{ initialCluster: all, etcd: { url: 'https://10.0.0.1:2379' }, manifests: '/m', components: [] },
    prefix: '/registry',
  },
  members: all,
  etcdutl: 'etcdutl',
  snapshot: '/s.db',
  ...(source && { source }),
  aside: '/a',
  parked: '/p',
  begun: [],
  done: [],
})
const said = (source: RestoreSource | undefined, hostRoot?: string) => otherMembers(record(source), hostRoot)
const copies = (lines: readonly string[]) => lines.filter((line) => line.includes(' -> ')).map((line) => line.trim())
const command = (lines: readonly string[]) => lines.find((line) => line.includes('slipway backup restore'))?.trim()

describe('the other members', () => {
  it('get the settings of a store beside their own, and the command that uses them', () => {
    const lines = said({ settings: '/var/lib/slipway/backup-store.json' })
    expect(copies(lines)).toEqual(['/var/lib/slipway/backup-store.json -> /var/lib/slipway/restore-from.json'])
    expect(command(lines)).toBe(
      `slipway backup restore b1 --settings /var/lib/slipway/restore-from.json --members ${members} --restore-id 00112233445566ff`,
    )
    expect(lines.join('\n')).toContain('remove it afterwards')
    expect(lines[0]).toBe('This is the first host of the new restore 00112233445566ff.')
    expect(lines[1]).toContain('what cp2 and cp3 do not have')
    expect(lines.join('\n')).toContain('a host restored without this id never joins')
  })

  it.each<[string, RestoreSource, readonly string[], string]>([
    [
      'a folder of the host that made it',
      { settings: '/var/lib/slipway/backup-store.json', folder: '/b' },
      [
        '/var/lib/slipway/backup-store.json -> /var/lib/slipway/restore-from.json',
        '/b/b1 -> /b/b1',
        '/b/b1.json -> /b/b1.json',
      ],
      'b1 --settings /var/lib/slipway/restore-from.json',
    ],
    [
      'settings of a person',
      { settings: '/root/s.json' },
      ['/root/s.json -> /root/s.json'],
      'b1 --settings /root/s.json',
    ],
    [
      'a folder and a key',
      { folder: '/b', keyFile: '/k' },
      ['/k -> /k', '/b/b1 -> /b/b1', '/b/b1.json -> /b/b1.json'],
      'b1 --folder /b --key-file /k',
    ],
    ['a bare snapshot', { file: '/s' }, ['/s -> /s'], '--file /s'],
  ])('get what %s takes', (_, source, files, flags) => {
    expect(copies(said(source))).toEqual(files)
    expect(command(said(source))).toBe(
      `slipway backup restore ${flags} --members ${members} --restore-id 00112233445566ff`,
    )
  })

  it('are told by one of them that another one began it', () => {
    const [head] = otherMembers({ ...record({ file: '/s' }), isFirst: false })
    expect(head).toContain('which another host began')
  })

  it('are told of the container it is run in', () => {
    expect(command(said({ file: '/s' }, '/host'))).toContain(' --host-root /host')
  })

  it('are none where there is one', () => {
    expect(otherMembers(record({ file: '/s' }, 'cp1=https://10.0.0.1:2380'))).toEqual([])
  })
})

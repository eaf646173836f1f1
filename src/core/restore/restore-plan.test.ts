import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { restoredAnnotation } from '../../api/maintenance-policy.ts'
import { type MemberSite, type RestoreRecord, restoreSteps } from '../../api/restore-record.ts'
import { readSite, restoredMembers } from './member-site.ts'
import { canUndo, describeRestore, mayHaveMajority, nextStep, planRestore, restoreCommand } from './restore-plan.ts'
import { markedPolicy } from './restored-mark.ts'

const manifests = '/etc/kubernetes/manifests'
const pod = (command: readonly string[]) => JSON.stringify({ spec: { containers: [{ image: 'i', command }] } })
const etcd = [
  'etcd',
  '--name=cp2',
  '--data-dir=/var/lib/etcd',
  '--advertise-client-urls=https://10.0.0.2:2379',
  '--initial-advertise-peer-urls=https://10.0.0.2:2380',
  '--initial-cluster=cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380',
]
const apiServer = [
  'kube-apiserver',
  '--advertise-address=10.0.0.2',
  '--etcd-servers=https://127.0.0.1:2379',
  '--etcd-cafile=/ca',
  '--etcd-certfile=/crt',
  '--etcd-keyfile=/key',
]

function site(): MemberSite {
  const found = readSite({ manifests, texts: { etcd: pod(etcd), 'kube-apiserver': pod(apiServer) } })
  if ('missing' in found) throw new Error(found.missing)
  return found.site
}

describe('etcd of a host', () => {
  it('is read from its own static pod', () => {
    expect(site()).toMatchObject({
      kind: 'StaticPod',
      name: 'cp2',
      dataDir: '/var/lib/etcd',
      etcd: { url: 'https://10.0.0.2:2379', ca: '/ca', certificate: '/crt', key: '/key' },
      prefix: '/registry',
      apiServer: { url: 'https://10.0.0.2:6443' },
    })
    expect(site().components.map(({ name }) => name)).toEqual(['kube-apiserver', 'etcd'])
  })

  it('is read from the settings of a service', () => {
    const service = {
      name: 'a',
      'data-dir': '/srv/etcd/',
      'initial-advertise-peer-urls': 'http://a:2380',
      'advertise-client-urls': 'http://a:2379',
    }
    expect(readSite({ manifests, texts: {}, service })).toMatchObject({
      site: { kind: 'Service', dataDir: '/srv/etcd' },
    })
  })

  it.each([
    ['none is there', {}, 'no etcd runs here'],
    ['it lacks what is needed', { etcd: pod(['etcd', '--advertise-client-urls=http://a:1']) }, '--name'],
    ['its log lies apart', { etcd: pod([...etcd, '--wal-dir=/wal']) }, '--wal-dir=/wal'],
  ])('is not restored where %s', (_, texts, said) => {
    expect(readSite({ manifests, texts })).toMatchObject({ missing: expect.stringContaining(said) })
  })
})

describe('the members of the restored cluster', () => {
  const three = [1, 2, 3].map((n) => ({ name: `cp${n}`, peerURLs: [`https://10.0.0.${n}:2380`] }))

  it.each([
    ['as a person says', 'cp2=https://10.0.0.2:2380', three, 'given', 1],
    ['as etcd still says', undefined, three, 'etcd', 3],
    ['as the manifest says', undefined, undefined, 'manifest', 2],
    ['as the manifest says, where etcd knows none', undefined, [], 'manifest', 2],
  ])('are %s', (_, given, listed, from, count) => {
    const found = restoredMembers(site(), given, listed)
    expect(found).toMatchObject({ from })
    expect('members' in found && found.members.split(',')).toHaveLength(count)
  })

  it.each([
    ['nonsense', 'is no list of members'],
    ['cp1=https://10.0.0.1:2380', 'is not among'],
    ['cp2=https://10.0.0.9:2380', 'advertises'],
  ])('are refused as %s', (given, said) => {
    expect(restoredMembers(site(), given, undefined)).toMatchObject({ wrong: expect.stringContaining(said) })
  })

  it('come in the same order on every host', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(three, { minLength: 3 }), (listed) => {
        expect(restoredMembers(site(), undefined, listed)).toEqual(restoredMembers(site(), undefined, three))
      }),
    )
  })
})

describe('the plan', () => {
  const backup = { name: 'b1', revision: '41', etcd: '3.6.8', snapshotSha256: 'ab'.repeat(32) }
  const startedAt = new Date('2026-01-05T08:00:00.123Z')
  const wish = {
    ...{ site: site(), members: 'cp2=https://10.0.0.2:2380', backup, etcdutl: '/u/etcdutl', snapshot: '/s.db' },
    ...{ restoreId: '00112233445566ff', isFirst: true, startedAt },
  }
  const record = planRestore(wish)

  it('names every file and command before anything is done', () => {
    const text = describeRestore(record).join('\n')
    for (const part of [
      `mv ${manifests}/etcd.yaml /etc/kubernetes/slipway-restore/`,
      'mv /var/lib/etcd/member /var/lib/etcd/before-restore-20260105T080000Z/member',
      '/u/etcdutl snapshot restore /s.db --data-dir=/var/lib/etcd/restoring --name=cp2',
      'slipway.dev/restored=00112233445566ff-abababababababab',
      'https://10.0.0.2:6443/readyz',
    ]) {
      expect(text).toContain(part)
    }
  })

  it('lets no watch see the past, and no member of the past join', () => {
    const command = restoreCommand(record)
    expect(command).toEqual(expect.arrayContaining(['--bump-revision=1000000000', '--mark-compacted']))
    expect(command).toContain('--initial-cluster-token=slipway-00112233445566ff-abababababababab')
  })

  it('has another token and another mark for another restore of the same backup, and for another backup', () => {
    const tokenOf = (part: Partial<typeof wish>) => {
      const other = planRestore({ ...wish, ...part })
      return `${restoreCommand(other).find((part) => part.startsWith('--initial-cluster-token='))} ${other.mark}`
    }
    const again = { restoreId: 'ffeeddccbbaa9988' }
    const another = { backup: { ...backup, snapshotSha256: 'cd'.repeat(32) } }
    expect(new Set([tokenOf({}), tokenOf(again), tokenOf(another)]).size).toBe(3)
    expect(tokenOf({ isFirst: false })).toBe(tokenOf({}))
  })

  it('goes step by step, and back as long as no majority was seen', () => {
    for (const [at, step] of restoreSteps.entries()) {
      expect(nextStep({ ...record, done: restoreSteps.slice(0, at) })).toBe(step)
      expect(canUndo({ ...record, done: restoreSteps.slice(0, at) })).toBe(at <= restoreSteps.indexOf('StartEtcd'))
    }
    expect(nextStep({ ...record, done: [...restoreSteps] })).toBeUndefined()
  })

  it('has a majority unseen, maybe, once etcd of several members was started, until it is seen or undone', () => {
    const before = restoreSteps.slice(0, restoreSteps.indexOf('StartEtcd'))
    const members = 'cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380'
    const started: RestoreRecord = { ...record, members, begun: [...before, 'StartEtcd'], done: before }
    expect(mayHaveMajority(started)).toBe(true)
    expect(mayHaveMajority({ ...started, begun: before })).toBe(false)
    expect(mayHaveMajority({ ...started, done: [...before, 'StartEtcd'] })).toBe(false)
    expect(mayHaveMajority({ ...started, undoing: true })).toBe(false)
    expect(mayHaveMajority({ ...started, members: 'cp2=https://10.0.0.2:2380' })).toBe(false)
  })
})

describe('the mark in etcd', () => {
  const policy = {
    kind: 'MaintenancePolicy',
    metadata: { name: 'default', annotations: { other: 'x' } },
    spec: { paused: true },
  }

  it('is added to the policy as it lies there, and once', () => {
    const marked = markedPolicy(JSON.stringify(policy), 'm1')
    const text = 'text' in marked ? marked.text : ''
    expect(JSON.parse(text)).toEqual({
      ...policy,
      metadata: { name: 'default', annotations: { other: 'x', [restoredAnnotation]: 'm1' } },
    })
    expect(markedPolicy(text, 'm1')).toEqual({ marked: true })
  })

  it('is left to an API server where the content is encrypted', () => {
    expect(markedPolicy('k8s:enc:aescbc:v1:key1:\u0001', 'm1')).toEqual({ unreadable: true })
  })
})

import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, nodeState } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import type { BackupManifest } from '../../api/backup.ts'
import { backupAnnotation, backupDemandSchema, type StoreRecord } from '../../api/backup-plan.ts'
import {
  type MaintenancePolicy,
  type MaintenancePolicySpec,
  maintenancePolicies,
  policyName,
} from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import { sizeText } from '../size-text.ts'

const stores: MaintenancePolicySpec = {
  backupStores: [
    { name: 'here', path: '/var/backups' },
    { name: 'far', s3: { bucket: 'b', secret: 's' } },
  ],
}
const sha256 = '0'.repeat(64)
const made = { node: 'cp1', location: 's3://b/x', sha256, bytes: 1_500_000, revision: '4711' } as const
const success = (subject: string, more: Partial<StoreRecord['lastSuccess']> = {}) => ({
  ...{ ...made, subject, name: 'x', verified: 'Hash' as const, at: '2026-11-15T11:05:00Z' },
  ...more,
})
const manifest = (name: string, at: string): BackupManifest => ({
  ...{ name, at, node: 'cp1', etcd: '3.6.4', revision: '7', sha256, bytes: 2048, snapshotSha256: sha256 },
  ...{ snapshotBytes: 4096, compression: 'zstd', verified: 'Restore', encryption: 'Age' },
})

function cluster(spec: MaintenancePolicySpec = stores, backups: StoreRecord[] = []): FakeKubeApi {
  const metadata = { name: policyName, uid: 'p', resourceVersion: '1', creationTimestamp: '2026-11-15T11:00:00Z' }
  return new FakeKubeApi().put(maintenancePolicies, { metadata, spec, status: { backups } })
}

/** The operator: takes the annotation up and tells what became of it. */
async function answering(api: FakeKubeApi, ...steps: ((subject: string) => Partial<StoreRecord>)[]) {
  for (;;) {
    await new Promise(setImmediate)
    const policy = api.find(maintenancePolicies, { name: policyName })
    const text = policy?.metadata.annotations?.[backupAnnotation]
    if (!policy || text === undefined) continue
    const demand = backupDemandSchema.parse(JSON.parse(text))
    for (const step of steps) {
      const record = { store: demand.store ?? '', asked: demand.request, ...step(`asked ${demand.request}`) }
      api.put(maintenancePolicies, { ...policy, status: { backups: [record] } })
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
    return demand
  }
}

const running = (node?: string) => (subject: string) => ({
  run: { subject, try: 1, failures: [], ...(node !== undefined && { node }) },
})

describe('slipway backup create', () => {
  it('asks for one, follows it and says where it lies', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const ended = cli.run('backup', 'create', '--store', 'far', '--verify', 'Restore')
    const demand = await answering(api, running(), running('cp2'), (subject) => ({ lastSuccess: success(subject) }))
    expect(demand).toMatchObject({ store: 'far', verify: 'Restore' })
    expect(await ended).toBe(0)
    expect(cli.out.text).toBe('s3://b/x: 1.4 MiB, etcd revision 4711 or later (as etcd said), checked by Hash\n')
    expect(cli.err.text).toContain('waits for a host that can make it')
    expect(cli.err.text).toContain('cp2 makes it\n')
  })

  it('takes the first store, and tells nothing but the answer where that is wanted', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const ended = cli.run('backup', 'create', '--quiet', '--output', 'json')
    const demand = await answering(api, running('cp1'), (subject) => ({ lastSuccess: success(subject) }))
    expect(demand.store).toBe('here')
    expect(await ended).toBe(0)
    expect(JSON.parse(cli.out.text)).toMatchObject({ store: 'here', ...made })
    expect(cli.err.text).toBe('')
  })

  it('fails with the cause', async () => {
    const api = cluster()
    const cli = cliFixture(api)
    const ended = cli.run('backup', 'create')
    const reason = { code: 'BackupFailed', message: 'failed 3 times: bucket is gone' } as const
    await answering(api, (subject) => ({ lastFailure: { subject, at: '2026-11-15T12:00:00Z', reason } }))
    expect(await ended).toBe(1)
    expect(cli.err.text).toContain('failed 3 times: bucket is gone')
  })

  it.each([
    { spec: {}, argv: [], code: 1, says: 'names no store for backups' },
    { spec: stores, argv: ['--store', 'x'], code: 2, says: 'MaintenancePolicy/default has here, far' },
    { spec: stores, argv: ['--verify', 'Prayer'], code: 2, says: 'Allowed choices are Hash, Restore' },
  ])('says what is wrong: $argv', async ({ spec, argv, code, says }) => {
    const cli = cliFixture(cluster(spec))
    expect(await cli.run('backup', 'create', ...argv)).toBe(code)
    expect(cli.err.text).toContain(says)
  })

  it('gives up after a minute in which no operator took it up', async () => {
    const cli = cliFixture(cluster())
    const ended = cli.run('backup', 'create')
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    await cli.clock.advance(61_000)
    expect(await ended).toBe(3)
    expect(cli.err.text).toContain('no operator has taken the request up')
  })

  it('waits for another backup of the store, and is patient anew when that is over', async () => {
    const subject = 'scheduled 2026-11-15T12:00:00Z'
    const api = cluster(stores, [{ store: 'here', run: { subject, try: 1, failures: [], node: 'cp1' } }])
    const cli = cliFixture(api)
    const ended = cli.run('backup', 'create')
    await cli.clock.advance(0)
    await cli.clock.advance(600_000)
    expect(cli.err.text).toContain('waits for another backup of here (scheduled 2026')
    const policy = api.found(maintenancePolicies, { name: policyName })
    api.put(maintenancePolicies, { ...policy, status: { backups: [{ store: 'here', lastSuccess: success(subject) }] } })
    await cli.clock.advance(59_000)
    expect(cli.err.text).not.toContain('error')
    await cli.clock.advance(2_000)
    expect(await ended).toBe(3)
    expect(cli.err.text).toContain('no operator has taken the request up')
  })

  it.each<[string, (api: FakeKubeApi, policy: MaintenancePolicy, request: string) => void]>([
    [
      'another backup has ended since',
      (api, policy, asked) => {
        const lastSuccess = success('scheduled 2026-11-15T12:00:00Z')
        api.put(maintenancePolicies, { ...policy, status: { backups: [{ store: 'here', asked, lastSuccess }] } })
      },
    ],
    [
      'the store is taken out of the policy',
      (api, policy) => api.put(maintenancePolicies, { ...policy, spec: {}, status: { backups: [] } }),
    ],
    ['the policy is deleted', (api) => api.remove(maintenancePolicies, { name: policyName })],
    [
      'somebody else’s request takes its place',
      (api, policy) => {
        const annotations = { [backupAnnotation]: '{"request":"theirs","store":"far"}' }
        api.put(maintenancePolicies, { ...policy, metadata: { ...policy.metadata, annotations }, status: {} })
      },
    ],
  ])('does not wait for what nobody can tell any more: %s', async (_what, meddle) => {
    const api = cluster()
    const cli = cliFixture(api)
    const ended = cli.run('backup', 'create')
    const { request } = await answering(api, running('cp1'))
    await cli.clock.advance(120_000)
    meddle(api, api.found(maintenancePolicies, { name: policyName }), request)
    expect(await Promise.race([ended, cli.clock.advance(1000)])).toBe(3)
    expect(cli.err.text).toContain('no longer on record')
    expect(cli.err.text).toContain('next: look whether it was made: slipway backup list')
  })
})

describe('slipway backup list', () => {
  const state = (name: string, finishedAt: string, kept: readonly BackupManifest[]) => {
    const said = { request: name, store: 'far', state: 'Succeeded', startedAt: finishedAt, finishedAt } as const
    return nodeState(name, undefined, { ...agentOf(), backup: { ...said, kept: [...kept] } })
  }
  const api = () =>
    cluster(stores, [
      { store: 'here', lastSuccess: success('asked 1') },
      {
        ...{ store: 'far', next: '2026-11-16T02:00:00.000Z' },
        lastFailure: { subject: 's', at: '2026-11-15T12:00:00Z', reason: { code: 'BackupFailed', message: 'no room' } },
      },
    ]).put(
      nodeStates,
      state('cp1', '2026-11-15T10:00:00Z', [manifest('gone', '2026-11-13T10:00:00Z')]),
      state('cp2', '2026-11-15T11:00:00Z', [
        manifest('b', '2026-11-15T11:00:00Z'),
        manifest('a', '2026-11-14T11:00:00Z'),
      ]),
      nodeState('w1'),
    )

  it('shows what the newest answer found in each store, and when the next is due', async () => {
    const cli = cliFixture(api())
    expect(await cli.run('backup', 'list')).toBe(0)
    expect(cli.out.text).toBe(
      [
        'STORE  NAME  AGE    HOST  SIZE     REVISION  CHECKED BY  ENCRYPTED',
        'here   x     1h     cp1   1.4 MiB  4711      Hash        -',
        'far    b     1h5m   cp1   2.0 KiB  7         Restore     Age',
        'far    a     25h5m  cp1   2.0 KiB  7         Restore     Age',
        'far: the next is due at 2026-11-16T02:00:00.000Z',
        'far: the last one failed at 2026-11-15T12:00:00Z: no room',
        '',
      ].join('\n'),
    )
  })

  it('tells the clusters apart where several keep theirs in a store', async () => {
    const of = (name: string, cluster: string) => ({ ...manifest(name, '2026-11-15T11:00:00Z'), cluster })
    const listed = async (...kept: readonly BackupManifest[]) => {
      const cli = cliFixture(api().put(nodeStates, state('cp3', '2026-11-15T11:30:00Z', kept)))
      expect(await cli.run('backup', 'list')).toBe(0)
      return cli.out.text
    }
    const shared = await listed(of('b', 'ca-1'), of('a', 'ca-2'))
    for (const part of [/HOST +CLUSTER +SIZE/, / b .* cp1 +ca-1 /, / a .* cp1 +ca-2 /]) expect(shared).toMatch(part)
    expect(await listed(of('b', 'ca-1'), of('a', 'ca-1'))).not.toContain('CLUSTER')
  })

  it('of a folder shows what each host has in its own', async () => {
    const answer = (name: string, kept: BackupManifest) => {
      const said = {
        request: name,
        store: 'here',
        state: 'Succeeded',
        startedAt: kept.at,
        finishedAt: kept.at,
      } as const
      return nodeState(name, undefined, { ...agentOf(), backup: { ...said, kept: [kept] } })
    }
    const both = cluster().put(
      nodeStates,
      answer('cp1', manifest('a', '2026-11-15T10:00:00Z')),
      answer('cp2', manifest('b', '2026-11-15T11:00:00Z')),
    )
    const cli = cliFixture(both)
    expect(await cli.run('backup', 'list', '--output', 'json')).toBe(0)
    expect(JSON.parse(cli.out.text)).toMatchObject({ backups: [{ name: 'b' }, { name: 'a' }] })
  })

  it('for one store, for machines', async () => {
    const cli = cliFixture(api())
    expect(await cli.run('backup', 'list', '--store', 'here', '--output', 'json')).toBe(0)
    expect(JSON.parse(cli.out.text)).toMatchObject({
      backups: [{ store: 'here', name: 'x' }],
      stores: [{ store: 'here' }],
    })
  })

  it('says so where there is none', async () => {
    const cli = cliFixture(cluster())
    expect(await cli.run('backup', 'list')).toBe(0)
    expect(cli.out.text).toBe('no backup is known\n')
  })
})

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [200 * 1024 * 1024, '200 MiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})

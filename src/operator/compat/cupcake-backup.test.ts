import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { metadata } from '../../../test/samples/cluster-objects.ts'
import { backupAnnotation, type StoreRecord, type UpdateBackup } from '../../api/backup-plan.ts'
import { type ConfigMap, configMaps } from '../../api/kube.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { Cluster } from '../cluster/cluster.ts'
import { backupInfoOf, decideBackup, readBackupRequest, repliesOf } from './cupcake-backup.ts'
import { CupcakeBackups } from './cupcake-backups.ts'

const namespace = 'slipway-system'
const operation = '8d3a2c1e-0000-4000-8000-000000000001'
const data = {
  operation_id: operation,
  node_name: 'cp1.example',
  snapshot_name: `etcd-snapshot-${operation}-20260101-120000`,
  backup_type: 'etcd',
  timestamp: '20260101-120000',
}
const map: ConfigMap = { metadata: metadata(`backup-${operation}-cp1-example`, { namespace }), data }
const request = readBackupRequest(map)
const now = new Date('2026-01-01T12:00:00Z')
const at = '2026-01-01T12:05:00Z'
const token = `cupcake-${map.metadata.uid}`.slice(0, 64)
const stores = { backupStores: [{ name: 'nightly', path: '/srv' }] }
const policy = (part: { asked?: string; backups?: StoreRecord[]; spec?: MaintenancePolicy['spec'] } = {}) => ({
  metadata: metadata(policyName, {
    ...(part.asked !== undefined && { annotations: { [backupAnnotation]: part.asked } }),
  }),
  spec: part.spec ?? stores,
  status: { ledger: { epoch: 1, grants: [] }, backups: part.backups ?? [] },
})
const name = `backup-status-${operation}-cp1-example`
const stored = { node: 'cp1', sha256: 'a'.repeat(64), bytes: 1, revision: '1', verified: 'Hash' as const, at }
const mine = { store: 'nightly', asked: token }

describe('a request for a backup', () => {
  const wait = { action: 'wait' }
  const ask = { action: 'ask', annotation: JSON.stringify({ request: token }) }
  it.each<[string, ReturnType<typeof policy> | undefined, object]>([
    ['is asked for on the policy', policy(), ask],
    ['waits for one that nobody has taken up', policy({ asked: '{"request":"other"}' }), wait],
    [
      'comes after one that was',
      policy({ asked: '{"request":"other"}', backups: [{ store: 'nightly', asked: 'other' }] }),
      ask,
    ],
    ['is written over what nobody can read', policy({ asked: 'soon' }), ask],
    ['is asked for once', policy({ asked: JSON.stringify({ request: token }) }), wait],
    [
      'is waited for while it runs',
      policy({ backups: [{ ...mine, run: { subject: `asked ${token}`, try: 0, failures: [] } }] }),
      wait,
    ],
    [
      'is answered when it is stored',
      policy({
        backups: [
          {
            ...mine,
            lastSuccess: { ...stored, subject: `asked ${token}`, name: 'one', location: 's3://b/etcd/one.zst' },
          },
        ],
      }),
      {
        action: 'answer',
        reply: {
          name,
          data: {
            completed: 'true',
            success: 'true',
            message: 'stored and read back',
            timestamp: at,
            snapshot_name: data.snapshot_name,
            upload_path: 's3://b/etcd/one.zst',
          },
        },
      },
    ],
    [
      'is answered when it failed',
      policy({
        backups: [
          { ...mine, lastFailure: { subject: `asked ${token}`, at, reason: { code: 'DiskTooFull', message: 'full' } } },
        ],
      }),
      { action: 'answer', reply: { name, data: expect.objectContaining({ success: 'false', message: 'full' }) } },
    ],
    [
      'fails where there is no store',
      policy({ spec: {} }),
      { action: 'answer', reply: { name, data: expect.objectContaining({ completed: 'true', success: 'false' }) } },
    ],
  ])('%s', (_what, known, action) => {
    if (!request) throw new Error('it is a request')
    expect(decideBackup(map, request, known, now)).toEqual(action)
  })

  it('is none without a node, and an answer is none', () => {
    expect(readBackupRequest({ ...map, data: { operation_id: 'x' } })).toBeUndefined()
    expect(readBackupRequest({ ...map, metadata: metadata('backup-status-x') })).toBeUndefined()
  })

  it('is taken away when it is answered', async () => {
    const api = new FakeKubeApi()
    const clock = new ManualClock()
    const stop = new AbortController()
    const ports = { api, clock, random: fixedRandom(), log: new RecordingLog() }
    const cluster = new Cluster(ports, namespace)
    const backups = new CupcakeBackups(ports, cluster, namespace)
    let woken = 0
    const watching = backups.watch(() => woken++, stop.signal)
    const labels = { 'cupcake.ricardomolendijk.com/backup': 'true' }
    await api.create(configMaps, { metadata: { name: map.metadata.name, namespace, labels }, data }, stop.signal)
    cluster.policies.upsert(
      await api.create(maintenancePolicies, { metadata: { name: policyName }, spec: {} }, stop.signal),
    )
    await clock.advance(1_000)
    expect(woken).toBeGreaterThan(0)
    await backups.answer(stop.signal)
    const left = api.stored(configMaps)
    expect(left.map(({ metadata: found }) => found.name)).toEqual([name])
    expect(left[0]?.data).toMatchObject({ success: 'false', snapshot_name: data.snapshot_name })
    await backups.answer(stop.signal)
    expect(api.stored(configMaps)).toHaveLength(1)
    stop.abort()
    await watching
  })
})

it('backups of an update are told in its status, and answered for each node', () => {
  const made = (node: string, file: string): UpdateBackup => ({
    ...stored,
    ...{ node, location: `s3://b/${file}`, store: 'nightly', step: 'ControlPlane v1.36.3' },
  })
  const status = { backups: [made('cp1', 'a.zst'), made('cp1', 'b.zst'), made('cp2', 'c.zst')] }
  expect(backupInfoOf(status)).toEqual({ etcdSnapshot: 's3://b/c.zst', timestamp: at })
  expect(backupInfoOf({})).toBeUndefined()
  expect(repliesOf(status, operation)).toMatchObject([
    { name: `backup-status-${operation}-cp1`, data: { snapshot_name: 'b.zst', upload_path: 's3://b/b.zst' } },
    { name: `backup-status-${operation}-cp2`, data: { success: 'true' } },
  ])
})

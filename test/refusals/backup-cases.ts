import { kubernetes, type RefusalCase } from './cases.ts'

const s3 = { bucket: 'backups', secret: 'keys' }
const duration = 'must be a duration such as 30m or 1h30m, above zero'
const onePlace = 'names exactly one of path, nfs, s3 and gcs'

function store(what: string, fields: object, field: string, says: string): RefusalCase {
  const spec = { backupStores: [{ name: 'nightly', ...fields }] }
  return { what, kind: 'MaintenancePolicy', spec, field: `spec.backupStores[0]${field}`, says }
}

/** Where backups go, and what an update asks for. */
export const refusedBackups: readonly RefusalCase[] = [
  store('a store that is nowhere', {}, '', onePlace),
  store('a store in two places', { path: '/var/backups', s3 }, '', onePlace),
  store('a store in a folder that may be anywhere', { path: '../backups' }, '.path', 'must be an absolute path'),
  store(
    'a bucket that is none',
    { s3: { ...s3, bucket: 'my bucket' } },
    '.s3.bucket',
    'must be the name of a bucket, such as cluster-backups',
  ),
  store(
    'a prefix with a query in it',
    { gcs: { ...s3, prefix: 'prod?x=1' } },
    '.gcs.prefix',
    'must be a path within the bucket, such as prod/etcd',
  ),
  store(
    'mount options with a blank',
    { nfs: { server: 'nas', path: '/export', options: 'vers=4.1, soft' } },
    '.nfs.options',
    'must be mount options such as vers=4.1,soft',
  ),
  store(
    'a zone that is none',
    { path: '/var/backups', schedule: { cron: '@daily', timeZone: 'My Zone' } },
    '.schedule.timeZone',
    'must be the name of a time zone such as Europe/Berlin or UTC',
  ),
  store('an age of nothing', { path: '/var/backups', retention: { age: '0m' } }, '.retention.age', duration),
  {
    ...{ what: 'a store name twice', kind: 'MaintenancePolicy', field: 'spec.backupStores' },
    spec: {
      backupStores: [
        { name: 'nightly', path: '/var/backups' },
        { name: 'nightly', path: '/srv/backups' },
      ],
    },
    says: 'has a store name twice: each store has its own',
  },
  {
    ...{ what: 'an etcd without its certificates', kind: 'MaintenancePolicy', field: 'spec.etcd.secret' },
    spec: { etcd: { endpoints: ['https://10.0.0.1:2379'] } },
    serverSays: 'Required value',
  },
  {
    ...{ what: 'an etcd that is nowhere', kind: 'MaintenancePolicy', field: 'spec.etcd.endpoints' },
    spec: { etcd: { endpoints: [], secret: 'etcd' } },
    serverSays: 'should have at least 1 items',
  },
  {
    ...{ what: 'a backup before nothing', kind: 'DirectUpdate', field: 'spec.backup.before' },
    spec: { kubernetes, backup: { before: [] } },
    serverSays: 'should have at least 1 items',
  },
  {
    ...{ what: 'a backup before something else', kind: 'DirectUpdate', field: 'spec.backup.before[0]' },
    spec: { kubernetes, backup: { before: ['Lunch'] } },
    serverSays: 'Unsupported value',
  },
  {
    ...{ what: 'a backup that is always too old', kind: 'DirectUpdate', field: 'spec.backup.maxAge' },
    spec: { kubernetes, backup: { maxAge: '0s' } },
    says: duration,
  },
  {
    ...{ what: 'a backup in a store without a name', kind: 'DirectUpdate', field: 'spec.backup.store' },
    spec: { kubernetes, backup: { store: 'Nightly!' } },
    says: 'must be the name of an object',
  },
  {
    ...{ what: 'a backup that would lie in another folder', kind: 'NodeState', field: 'spec.backup.name' },
    spec: {
      backup: {
        ...{ request: 'r', name: '../etcd', verify: 'Hash', timeout: '1h' },
        store: { name: 'nightly', path: '/var/backups' },
      },
    },
    says: 'must be the name of a backup',
  },
]

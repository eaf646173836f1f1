// What a restore will do on this host, as a record that is carried out and as lines that a person reads before saying yes.

import type { BackupManifest } from '../../api/backup.ts'
import {
  type MemberSite,
  type RestoreRecord,
  type RestoreSource,
  type RestoreStep,
  restoreSteps,
} from '../../api/restore-record.ts'
import { memberNames } from './member-site.ts'

/** Far more than a cluster writes between a backup and its loss: no watch of the lost time finds its version again. */
const bumpRevision = 1_000_000_000

export interface RestoreWish {
  readonly restoreId: string
  /** The id was drawn here, so no other host knows it yet. */
  readonly isFirst: boolean
  readonly site: MemberSite
  readonly members: string
  readonly backup: Pick<BackupManifest, 'name' | 'revision' | 'etcd' | 'snapshotSha256'>
  /** Of which the backup is, where that is known to be another one than this host's. */
  readonly otherCluster?: string | undefined
  readonly etcdutl: string
  readonly snapshot: string
  readonly source?: RestoreSource | undefined
  readonly startedAt: Date
}

export function planRestore(wish: RestoreWish): RestoreRecord {
  const { restoreId, isFirst, site, members, backup, otherCluster, etcdutl, snapshot, source, startedAt } = wish
  const { name, revision, etcd, snapshotSha256 } = backup
  const stamp = startedAt.toISOString().replace(/[-:]|\.\d+/g, '')
  return {
    restoreId,
    isFirst,
    // The snapshot in it, too: a host that restores another one must not join.
    mark: `${restoreId}-${snapshotSha256.slice(0, 16)}`,
    startedAt: startedAt.toISOString(),
    backup: { name, revision, etcd, snapshotSha256, ...(otherCluster !== undefined && { otherCluster }) },
    site,
    members,
    etcdutl,
    snapshot,
    ...(source && { source }),
    aside: `${site.dataDir}/before-restore-${stamp}`,
    parked: `${site.manifests.replace(/\/[^/]+\/?$/, '')}/slipway-restore`,
    begun: [],
    done: [],
  }
}

/** Beside where the data of before would be: a sign that there was none. */
export function nothingBefore({ aside }: RestoreRecord): string {
  return `${aside}/there-was-nothing`
}

/** Where etcdutl writes to before it is put into its place: the same file system, whatever is mounted where. */
export function restoringFolder({ site }: RestoreRecord): string {
  return `${site.dataDir}/restoring`
}

/**
 * A token of its own makes other member ids: a member that was not restored, or by another restore, cannot join by mistake. The revision
 * goes up and all before it counts as compacted: whoever watched the lost time is told to list anew.
 */
export function restoreCommand(record: RestoreRecord): readonly string[] {
  const { site, members, mark, etcdutl, snapshot } = record
  return [
    etcdutl,
    'snapshot',
    'restore',
    snapshot,
    `--data-dir=${restoringFolder(record)}`,
    `--name=${site.name}`,
    `--initial-cluster=${members}`,
    `--initial-cluster-token=slipway-${mark}`,
    `--initial-advertise-peer-urls=${site.peerURLs}`,
    `--bump-revision=${bumpRevision}`,
    '--mark-compacted',
  ]
}

/** As long as no majority was seen: until then this etcd has agreed to nothing that is only in the restored data. */
export function canUndo({ done }: Pick<RestoreRecord, 'done'>): boolean {
  return !done.includes('StartEtcd')
}

/**
 * Whether a majority may have formed that nobody saw: the others go on being restored when nobody waits here any more. What answers while
 * it is being undone may be the etcd of before, and a single member agrees with itself as soon as it runs.
 */
export function mayHaveMajority({ begun, done, undoing, members }: RestoreRecord): boolean {
  return canUndo({ done }) && begun.includes('StartEtcd') && !undoing && memberNames(members).length > 1
}

export function nextStep({ done }: RestoreRecord): RestoreStep | undefined {
  return restoreSteps.find((step) => !done.includes(step))
}

/** One line or more for each step, with the very files and commands. */
export function describeRestore(record: RestoreRecord): readonly string[] {
  return restoreSteps.flatMap((step, at) => {
    const [first = '', ...more] = stepLines(step, record)
    const isDone = record.done.includes(step) ? ' (done)' : ''
    return [`${at + 1}. ${first}${isDone}`, ...more.map((line) => `   ${line}`)]
  })
}

function stepLines(step: RestoreStep, record: RestoreRecord): readonly string[] {
  const { site, aside, parked, members, mark } = record
  const { dataDir, manifests, kind, components } = site
  const moved = components.map(({ name }) => `${manifests}/${name}.yaml`)
  const others = memberNames(members).filter((name) => name !== site.name)
  switch (step) {
    case 'Stop':
      return [
        'stop the control plane and etcd on this host',
        ...moved.map((path) => `mv ${path} ${parked}/`),
        ...(kind === 'Service' ? ['systemctl stop etcd.service'] : []),
        'wait until their processes have ended',
      ]
    case 'PutAside':
      return ['keep the data there is; nothing of it is deleted', `mv ${dataDir}/member ${aside}/member`]
    case 'Restore':
      return [`restore ${record.backup.name} (revision ${record.backup.revision})`, restoreCommand(record).join(' ')]
    case 'Place':
      return ['put it into its place', `mv ${restoringFolder(record)}/member ${dataDir}/member`]
    case 'StartEtcd':
      return [
        'start etcd',
        kind === 'Service' ? 'systemctl start etcd.service' : `mv ${parked}/etcd.yaml ${manifests}/`,
        others.length > 0
          ? `wait until a majority of ${members} has agreed: do the same on ${others.join(', ')}`
          : 'wait until it answers',
      ]
    case 'Mark':
      return [
        'before an API server runs: tell Slipway that the API is of the past',
        `slipway.dev/restored=${mark} at ${site.prefix}/slipway.dev/maintenancepolicies/default`,
      ]
    case 'StartControlPlane':
      return [
        'start the control plane',
        ...moved
          .filter((path) => !path.endsWith('/etcd.yaml'))
          .map((path) => `mv ${parked}/${path.split('/').at(-1)} ${manifests}/`),
        `wait until ${site.apiServer ? `${site.apiServer.url}/readyz` : 'it'} answers`,
      ]
    case 'Check':
      return [`check that the members of etcd are ${memberNames(members).join(', ')} and all have started`]
  }
}

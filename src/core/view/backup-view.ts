import type { BackupView, StoreView } from '../../api/console.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'

export function backupsOf({ metadata, status }: DirectUpdate): readonly BackupView[] {
  return (status?.backups ?? []).map(({ step, store, location, at, bytes, revision, sha256, verified }) => ({
    ...{ store, location, at, bytes, revision: Number(revision), sha256, verified },
    reason: `update ${metadata.name}, before ${step}`,
  }))
}

type Store = NonNullable<MaintenancePolicy['spec']['backupStores']>[number]

/** `states`: those of the hosts that may have answered for a backup. */
export function storeViews(
  { spec, status }: MaintenancePolicy,
  updates: Iterable<DirectUpdate>,
  states: Iterable<NodeState>,
): readonly StoreView[] {
  const made = [...updates].flatMap(backupsOf)
  const kept = [...states].flatMap(keptBackups)
  return (spec.backupStores ?? []).map((store) => {
    const record = status?.backups?.find((one) => one.store === store.name)
    const recorded = record?.lastSuccess
    const last: readonly BackupView[] = recorded
      ? [
          {
            ...{ store: store.name, location: recorded.location, at: recorded.at, bytes: recorded.bytes },
            ...{ revision: Number(recorded.revision), sha256: recorded.sha256, verified: recorded.verified },
            reason: recorded.subject,
          },
        ]
      : []
    const backups = newestFirst(merged([...made, ...last, ...kept].filter((one) => one.store === store.name)))
    const failure = record?.lastFailure
    const isBroken = failure && (!backups[0] || failure.at > backups[0].at)
    return {
      name: store.name,
      kind: kindOf(store),
      encrypted: store.encryption !== undefined,
      ...(store.schedule && { schedule: `${store.schedule.cron} ${store.schedule.timeZone ?? 'UTC'}` }),
      ...(record?.next !== undefined && { next: record.next }),
      ...(backups[0] && { last: backups[0] }),
      ...(isBroken && { problem: failure.reason }),
      backups,
    }
  })
}

function keptBackups({ status }: NodeState): readonly BackupView[] {
  const { store, kept = [], location } = status?.agent?.backup ?? {}
  if (store === undefined) return []
  const folder = location?.slice(0, location.lastIndexOf('/') + 1) ?? ''
  return kept.map(({ name, at, bytes, revision, sha256, verified }) => ({
    ...{ store, location: `${folder}${name}`, at, bytes, revision: Number(revision), sha256, verified },
    reason: 'kept in the store',
  }))
}

/** The same object may be known from several records; the first one says what it was made for. */
function merged(backups: readonly BackupView[]): readonly BackupView[] {
  const byContent = new Map<string, BackupView>()
  for (const backup of backups) {
    const key = backup.sha256 ?? backup.location
    if (!byContent.has(key)) byContent.set(key, backup)
  }
  return [...byContent.values()]
}

function newestFirst(backups: readonly BackupView[]): readonly BackupView[] {
  return backups.toSorted((a, b) => b.at.localeCompare(a.at))
}

function kindOf({ path, nfs, s3 }: Store): StoreView['kind'] {
  if (path !== undefined) return 'path'
  if (nfs) return 'nfs'
  return s3 ? 's3' : 'gcs'
}

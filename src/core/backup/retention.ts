// Which old backups may go. When in doubt one stays: what is not known to be a backup of this cluster, what cannot be read, and the
// newest good one, always.

import type { BackupManifest, Retention } from '../../api/backup.ts'
import { parseDuration } from '../duration.ts'

/** A manifest that could be read, and the object beside it as the store lists it; undefined where there is none. */
export interface FoundBackup {
  readonly manifest: Pick<BackupManifest, 'name' | 'at' | 'cluster' | 'bytes'>
  readonly objectBytes: number | undefined
}

export interface RetentionQuestion {
  readonly found: readonly FoundBackup[]
  readonly retention: Retention
  /** The backup that was made just now: it stays, also where its time says that it is the oldest. */
  readonly made: string
  /** Others may keep theirs in the same place. */
  readonly cluster: string | undefined
  readonly now: Date
}

/** The names of those that may go, the oldest first. */
export function outdatedBackups({ found, retention, made, cluster, now }: RetentionQuestion): readonly string[] {
  const ours = found
    .filter(({ manifest }) => cluster !== undefined && manifest.cluster === cluster)
    .toSorted(newestFirst)
  const good = ours.filter(isWhole)
  const { count, age } = retention
  const oldestMs = age === undefined ? Number.NEGATIVE_INFINITY : now.getTime() - parseDuration(age)
  const kept = new Set([made, good[0]?.manifest.name])
  const isOutdated = ({ manifest }: FoundBackup) => {
    const newer = good.filter((other) => newestFirst(other, { manifest }) < 0).length
    return newer >= (count ?? Number.POSITIVE_INFINITY) || Date.parse(manifest.at) < oldestMs
  }
  return ours
    .filter((backup) => !kept.has(backup.manifest.name) && !isAltered(backup) && isOutdated(backup))
    .map(({ manifest }) => manifest.name)
    .toReversed()
}

/** The object is there, as large as it was stored. */
export function isWhole({ manifest, objectBytes }: FoundBackup): boolean {
  return objectBytes === manifest.bytes
}

/** Something else lies there: nobody knows what, so it is left to a person. A manifest whose object is gone may go too. */
function isAltered({ manifest, objectBytes }: FoundBackup): boolean {
  return objectBytes !== undefined && objectBytes !== manifest.bytes
}

function newestFirst(a: Pick<FoundBackup, 'manifest'>, b: Pick<FoundBackup, 'manifest'>): number {
  return Date.parse(b.manifest.at) - Date.parse(a.manifest.at) || b.manifest.name.localeCompare(a.manifest.name)
}

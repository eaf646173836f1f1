// Which backup is meant where none is named: the newest of this host's own cluster. Others may keep theirs in the same place, and the
// newest of all may be one of theirs.

import type { BackupManifest } from '../../api/backup.ts'

type Told = Pick<BackupManifest, 'name' | 'cluster'>

export type BackupChoice<T> =
  | { readonly chosen: T }
  /** There is none at all. */
  | { readonly none: true }
  /** A person must name one. */
  | { readonly unclear: string }

/** `found`: the newest first. `own`: by which this host's cluster is known; empty where nothing tells. */
export function chooseBackup<T extends Told>(found: readonly T[], own: readonly string[]): BackupChoice<T> {
  const [newest] = found
  if (!newest) return { none: true }
  const clusters = clustersOf(found)
  if (own.length === 0) {
    if (clusters.length === 1) return { chosen: newest }
    return { unclear: `it holds backups of ${clusters.join(', ')}, and which of them this host is of cannot be told` }
  }
  const chosen = found.find(({ cluster }) => cluster !== undefined && own.includes(cluster))
  if (chosen) return { chosen }
  return {
    unclear: `it holds no backup of the cluster of this host (${own.join(', ')}), but of ${clusters.join(', ')}`,
  }
}

/** Those a list tells apart. */
export function clustersOf(found: readonly Pick<BackupManifest, 'cluster'>[]): readonly string[] {
  return [...new Set(found.map(({ cluster }) => cluster ?? 'an unknown cluster'))]
}

/**
 * By which a cluster is known on its host. The note of an earlier backup counts where there is no authority to go by, or the backup was
 * made without one: of another authority it tells of another cluster, which this machine once was of.
 */
export function ownClusters(byAuthority: string | undefined, byNote: string | undefined): readonly string[] {
  const noted = byNote === undefined || (byAuthority !== undefined && byNote.startsWith('ca-')) ? [] : [byNote]
  return byAuthority === undefined ? noted : [byAuthority, ...noted]
}

/** The other cluster a backup is of; undefined where it is of this one, or nothing tells. */
export function otherCluster(cluster: string | undefined, own: readonly string[]): string | undefined {
  return own.length === 0 || cluster === undefined || own.includes(cluster) ? undefined : cluster
}

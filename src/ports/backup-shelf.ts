import type { BackupManifest } from '../api/backup.ts'
import type { RestoreRecord } from '../api/restore-record.ts'
import type { RestoredMembers } from '../core/restore/member-site.ts'
import type { ScratchLook } from '../core/restore/proof.ts'

/** Where backups are looked for; the first that is given counts, else what the agent of this host keeps of its last good backup. */
export interface BackupPlace {
  /** A snapshot as etcd writes it, without a manifest. */
  readonly file?: string | undefined
  /** A folder with backups and their manifests. */
  readonly folder?: string | undefined
  /** A file as `backup-store.json` of an agent, or with its `store` and `secrets` alone. */
  readonly settings?: string | undefined
  /** A file with the key, where the settings do not hold it. */
  readonly keyFile?: string | undefined
}

export interface CheckedBackup {
  readonly manifest: BackupManifest
  readonly location: string
  /** What a scratch etcd said, where one was asked for. */
  readonly look?: ScratchLook | undefined
}

export interface RestoreWishes {
  readonly name?: string | undefined
  readonly members?: string | undefined
  /** Of the restore that another host began; absent = this host is the first of a new one. */
  readonly restoreId?: string | undefined
}

export interface PlannedRestore {
  readonly record: RestoreRecord
  readonly from: RestoredMembers['from']
}

/** Backups as somebody on a host, or anywhere, uses them. No API is needed. */
export interface BackupShelf {
  /** The newest first. */
  list(place: BackupPlace, signal: AbortSignal): Promise<readonly BackupManifest[]>
  /** Reads all of it against its manifest; the newest where none is named. */
  check(place: BackupPlace, name: string | undefined, restore: boolean, signal: AbortSignal): Promise<CheckedBackup>
  /** The restore on this host that was begun and not ended. */
  pending(): Promise<RestoreRecord | undefined>
  /** Fetches the backup and looks at the host; changes nothing. What was fetched is all of etcd in clear, until it is carried out or discarded. */
  plan(place: BackupPlace, wish: RestoreWishes, signal: AbortSignal): Promise<PlannedRestore>
  /** For a plan that is not carried out. What a restore needs that was begun stays. */
  discard(plan: RestoreRecord): Promise<void>
  carryOut(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void>
  undo(record: RestoreRecord, tell: (line: string) => void, signal: AbortSignal): Promise<void>
}

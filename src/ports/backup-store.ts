import type { BackupSecrets, StorePlace } from '../api/backup.ts'

export interface StoredObject {
  readonly name: string
  readonly bytes: number
}

/**
 * Where backups are kept: a folder, a bucket. Names are plain, without folders. Errors are SlipwayError: StoreUnreachable for what
 * may pass, StoreRefused for what will not (credentials, no such bucket, no room), DiskTooFull where it is the host's own disk; each
 * names the place and the cause.
 */
export interface BackupStore {
  /** For people: s3://bucket/prefix/name, /var/backups/name. */
  location(name: string): string
  /** Stores all of it under the name or nothing; over what was there. Read once, as it comes; a piece is good until the next is asked for. */
  put(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
  /** Undefined where there is none. */
  get(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>
  list(signal: AbortSignal): Promise<readonly StoredObject[]>
  /** A missing one is fine. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

export interface OpenStore extends BackupStore {
  /** Lets go of connections and mounts; never throws what the work itself did not suffer from. */
  close(): Promise<void>
}

/** Stores by their settings. */
export interface BackupStores {
  open(place: StorePlace, secrets: BackupSecrets['store'], signal: AbortSignal): Promise<OpenStore>
}

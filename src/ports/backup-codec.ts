import type { BackupManifest, EncryptionMethod } from '../api/backup.ts'

/** A key as it stands in its Secret. */
export interface BackupCipher {
  readonly method: EncryptionMethod
  readonly key: string
}

/** What a manifest says of the bytes. */
export type BackupSums = Pick<
  BackupManifest,
  'name' | 'sha256' | 'bytes' | 'snapshotSha256' | 'snapshotBytes' | 'encryption'
>

/** Snapshots as they are stored, and back again; a piece at a time. */
export interface BackupCodec {
  /** Pieces, of either side, are good until the next is asked for. zstd, then encrypted where a cipher is given. Throws BackupKeyWrong for a key that is none of its kind. */
  encode(snapshot: AsyncIterable<Uint8Array>, cipher: BackupCipher | undefined): AsyncIterable<Uint8Array>
  /**
   * The snapshot again, of which every byte is held against the manifest: use nothing of it before the end came without an error.
   * Throws BackupDamaged where the stored bytes are not those of the manifest, BackupKeyWrong where they are but the key is not.
   */
  decode(stored: AsyncIterable<Uint8Array>, sums: BackupSums, key: string | undefined): AsyncIterable<Uint8Array>
  /** Whether the key can also open what it closes: a recipient of age cannot. */
  canDecode(cipher: BackupCipher): boolean
}

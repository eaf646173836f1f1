import type { BackupManifest } from '../api/backup.ts'

/** That a backup can be restored, shown by doing it: into a folder of its own, with an etcd that nobody else talks to. */
export interface RestoreProof {
  /**
   * Resolves when a scratch etcd came up with the snapshot and has at least the manifest's revision; nothing of it is left then.
   * Throws RestoreUnproven where it did not, DiskTooFull where there is less than three times the room, ToolMissing without etcd's
   * programs.
   */
  prove(snapshot: AsyncIterable<Uint8Array>, manifest: BackupManifest, signal: AbortSignal): Promise<void>
}

// What a restore into a scratch etcd must show before a backup counts as proven.

/** The file itself, the restored data, and what etcd writes while it starts. */
const timesTheSize = 3

export function roomNeeded(snapshotBytes: number): number {
  return snapshotBytes * timesTheSize
}

/** What a scratch etcd said of itself. */
export interface ScratchLook {
  readonly version: string
  readonly revision: string
  readonly keys: number
}

/** Why the restored data is not that of the manifest; undefined when it is. */
export function whyUnproven(look: ScratchLook, manifest: { readonly revision: string }): string | undefined {
  if (BigInt(look.revision) >= BigInt(manifest.revision)) return undefined
  return `the restored etcd is at revision ${look.revision}, the manifest says at least ${manifest.revision}`
}

import type { BundleManifest } from '../api/bundle.ts'

/** What a bundle on a server holds, by its manifest; whether all of it is there and whole, each host proves for itself. */
export interface BundleManifests {
  /** StagingFailed where it cannot be fetched, BundleBroken where it is no bundle. */
  read(url: string, signal: AbortSignal): Promise<BundleManifest>
}

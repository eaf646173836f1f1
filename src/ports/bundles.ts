import type { BundleArchitecture, BundleManifest } from '../api/bundle.ts'

export interface BundleLook {
  readonly manifest: BundleManifest
  /** Of the whole file. */
  readonly sha256: string
  readonly bytes: number
}

export interface BundleOrder {
  /** Laid out as a bundle is. */
  readonly folder: string
  readonly output: string
  /** Where no package tells it. */
  readonly architecture?: BundleArchitecture | undefined
}

/**
 * Bundles on a machine's disk: packages, images and programs with a manifest of their SHA-256. They are read and written as a
 * stream. BundleMissing where there is no such file, BundleBroken where it is not whole or not what its manifest says.
 */
export interface Bundles {
  /** The same files make the same bundle, byte by byte. Usage, naming everything, where the folder is no good. */
  create(order: BundleOrder, signal: AbortSignal): Promise<BundleLook>
  /** Reads and checks the whole of it. */
  verify(file: string, signal: AbortSignal): Promise<BundleLook>
  /** How large the file is; undefined where there is none. */
  bytes(file: string): Promise<number | undefined>
  /**
   * Unpacks it into a new folder, which gets its name only when all of it was checked and is safe on the disk. ContentMismatch
   * where the whole has another SHA-256; DiskFull where there is no room.
   */
  unpack(file: string, sha256: string, folder: string, signal: AbortSignal): Promise<BundleManifest>
}

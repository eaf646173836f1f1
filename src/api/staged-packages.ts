// What was staged for a host's package manager, as the agent keeps it on the disk between staging and the steps.

import { z } from 'zod'

const name = z.string().min(1).max(256)
const version = z.string().min(1).max(256)

/** One package of a transaction: everything about it was decided while the node still worked. */
export const stagedPackageSchema = z.strictObject({
  name,
  architecture: z.string().min(1).max(64),
  /** The whole version as the package manager writes it: `1.36.3-1.1`, or `0:1.36.3-150500.1.1`. */
  version,
  /** What was installed before; absent for a new package. */
  previous: version.optional(),
  /** Absolute path on the host; absent where this version is installed already. */
  file: z.string().max(4096).optional(),
  sha256: z.string().length(64).optional(),
  bytes: z.int().min(0).optional(),
  /** Asked for by name; the others come along as dependencies. */
  wanted: z.boolean(),
  /** How it is to be left: held back from upgrades. */
  held: z.boolean(),
  /** How it was found, where it is to be left otherwise. */
  heldBefore: z.boolean().optional(),
  /** Installed as a dependency only, in the eyes of the package manager. */
  automatic: z.boolean(),
  /** Comes beside the versions that are installed, as kernels do, and replaces none. */
  sideBySide: z.literal(true).optional(),
})

export const stagedRemovalSchema = z.strictObject({
  name,
  /** What was installed before. */
  previous: version,
  /** Its configuration files go too. */
  purge: z.boolean(),
  /** `name-version-release.arch`: this one goes and other versions of it stay. */
  only: z.string().min(1).max(512).optional(),
})

export const stagedPackagesSchema = z.strictObject({
  manager: z.enum(['apt', 'dnf']),
  /** Absolute path on the host: the downloaded files, and the plan the job follows. */
  folder: z.string().min(1).max(4096),
  packages: z.array(stagedPackageSchema).max(10_000),
  removals: z.array(stagedRemovalSchema).max(1_000),
  /** Names of packages that stayed as they are although a newer version is on offer. */
  keptBack: z.array(name).max(10_000),
})

/**
 * Beside what was staged: what is noted there does not count while it is staged anew, nor where it was found that it cannot be, or that
 * nothing has to change any more.
 */
export const stagingMarkSchema = z.strictObject({ state: z.enum(['UnderWay', 'Over', 'Impossible', 'NotNeeded']) })

/** Packages that stay as they are, for what was there before cannot be had any more. */
export const leftOutSchema = z.strictObject({ names: z.array(name).max(10_000) })

export type StagedPackage = z.infer<typeof stagedPackageSchema>
export type StagedRemoval = z.infer<typeof stagedRemovalSchema>
export type StagedPackages = z.infer<typeof stagedPackagesSchema>
export type StagingMark = z.infer<typeof stagingMarkSchema>

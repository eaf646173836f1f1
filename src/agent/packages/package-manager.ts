// The package manager of a host: apt, or dnf/yum. Staging asks the repositories, downloads and checks, and touches nothing of
// the host's own lists and sources; the job then works from the staged files alone; looking proves what it did.

import type { Reason } from '../../api/reason.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'

export interface InstalledPackage {
  readonly name: string
  /** The newest of those that are installed. */
  readonly version: string
  /** The others, where several are on purpose: kernels. */
  readonly olderVersions?: readonly string[]
  readonly architecture: string
  /** Held back from upgrades: `apt-mark hold`, `dnf versionlock`. */
  readonly held: boolean
  /** False where an interrupted transaction left it half-installed. */
  readonly whole: boolean
}

export interface WantedPackage {
  readonly name: string
  /**
   * A whole version, a version without the packager's suffix (`1.36.3`), or a pattern (`2.1.*`): the newest on offer that fits.
   * Absent: the newest the host's own pins allow.
   */
  readonly version?: string | undefined
  /** How it is to be left; absent: as found. */
  readonly hold?: boolean | undefined
}

export interface UnwantedPackage {
  readonly name: string
  /** Its configuration files go too. */
  readonly purge: boolean
}

/** A file of the package manager's own configuration: a list of repositories, or a key. */
export interface RepositoryFile {
  readonly path: string
  readonly content: string
}

/** Where packages come from while staging. */
export type PackageSources =
  | {
      readonly from: 'Host'
      /** As if these files were there already, instead of those of the same path. */
      readonly with?: readonly RepositoryFile[]
      /** As if these were gone already. */
      readonly without?: readonly string[]
    }
  /** The folder `packages/deb` or `packages/rpm` of an unpacked bundle, and nothing else. */
  | { readonly from: 'Folder'; readonly folder: string }

/**
 * Which packages that an interrupted transaction left in several versions are put right along with the work. `Asked`: those alone
 * that are wanted. The scriptlets of any other may restart what pods run under, and the node is at work.
 */
export type Repairs = 'Asked' | 'All'

/** Which installed packages are to be brought to their newest version. */
export type Upgrade = 'Security' | 'All'

export interface StageRequest {
  /** For this request alone, under the order's staging folder; made here. */
  readonly folder: string
  readonly sources: PackageSources
  readonly wanted: readonly WantedPackage[]
  readonly unwanted?: readonly UnwantedPackage[]
  /** Absent: all. */
  readonly repairs?: Repairs
}

export interface UpgradeRequest {
  readonly folder: string
  readonly sources: PackageSources
  readonly upgrade: Upgrade
  /** Never touched, held or not. */
  readonly except: readonly string[]
}

export type StageResult =
  /** `warnings`: what a person should know of the host although the work goes on. */
  | { readonly ok: true; readonly staged: StagedPackages; readonly warnings?: readonly string[] }
  | { readonly ok: false; readonly reason: Reason }

/** The same repository file before and after it names another minor version of Kubernetes. */
export interface RepositorySwitch {
  readonly path: string
  readonly before: string
  readonly after: string
}

export interface PackageManager {
  readonly kind: 'apt' | 'dnf'

  /** By name; what is not installed is not in it. */
  installed(names: readonly string[] | 'All', signal: AbortSignal): Promise<ReadonlyMap<string, InstalledPackage>>

  /**
   * Resolves exact versions and all they need from the sources' own index, downloads them into the folder, checks signatures,
   * hashes and room on the disk. Again with the same folder nothing is fetched twice. A reason where it can never work
   * (VersionUnknown, RepositoryUntrusted, PackageHeld, PackageConflict, DiskTooFull); throws StagingFailed for what may pass.
   */
  stage(request: StageRequest, signal: AbortSignal): Promise<StageResult>
  /** The same for what is installed already; packages a person holds are kept back, and said so in `keptBack`. */
  stageUpgrade(request: UpgradeRequest, signal: AbortSignal): Promise<StageResult>

  /**
   * The way back from `staged`, to be staged while its `previous` versions are still installed: their files, and the removal
   * of what is new. VersionUnknown where one of them is not on offer any more.
   */
  stageReturn(
    staged: StagedPackages,
    request: { readonly folder: string; readonly sources: PackageSources },
    signal: AbortSignal,
  ): Promise<StageResult>

  /**
   * One job for a JobStep: waits for the lock, repairs an interrupted transaction, installs and removes exactly what was
   * staged without network, keeps configuration files, and leaves holds as staged. Safe to run again after any cut.
   */
  jobArgv(staged: StagedPackages): readonly string[]
  /** What is not as staged, or undefined: every version, every hold, nothing half-installed. For `holds` and `missing`. */
  missing(staged: StagedPackages, signal: AbortSignal): Promise<string | undefined>

  /** Every repository file of the host that has an entry with `/vMAJOR.MINOR/` in its address, with the minor replaced. */
  kubernetesRepositories(
    minor: { readonly major: number; readonly minor: number },
    signal: AbortSignal,
  ): Promise<readonly RepositorySwitch[]>

  /** The files that make a repository known to this package manager; the caller writes or removes them. */
  repositoryFiles(repository: Repository): readonly RepositoryFile[]
}

/** A repository as a NodeProfile names it. */
export interface Repository {
  /** Names its files: lower-case words. */
  readonly name: string
  readonly apt?: {
    readonly uris: readonly string[]
    readonly suites: readonly string[]
    readonly components?: readonly string[] | undefined
    /** ASCII-armoured public key, or the absolute path of a keyring on the host. */
    readonly signedBy: string
  }
  readonly dnf?: {
    readonly baseurl: string
    /** ASCII-armoured public key, or a URL or absolute path of one. */
    readonly gpgkey: string
  }
}

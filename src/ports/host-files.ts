/** What lies at a path of the machine; links are looked at, not followed, in the last part only. */
export type FileLook =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'file'
      readonly mode: number
      /** Names where the machine knows them, else numbers. */
      readonly owner: string
      readonly group: string
      readonly bytes: number
      readonly modifiedMs: number
    }
  | { readonly kind: 'folder' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'other' }

export interface FileAttributes {
  readonly mode: number
  readonly owner: string
  readonly group: string
}

/**
 * The files of the machine the agent cares for, whether the agent runs on it or in a container of it. Paths are absolute as
 * the machine sees them; links on the way, absolute ones too, are followed as the machine would, never out of its root.
 * Errors are SlipwayError with code DiskFull, DiskNotFound or DiskFailed.
 */
export interface HostFiles {
  look(path: string): Promise<FileLook>
  /** The whole file; undefined where there is none. Larger than `maxBytes` is DiskFailed. Default 1 MiB. */
  read(path: string, maxBytes?: number): Promise<string | undefined>
  /** SHA-256 of the file's bytes, in hexadecimal; undefined where there is none. */
  sha256(path: string): Promise<string | undefined>
  /**
   * Replaces the file as a whole and for good: temporary file beside it, fsync, rename, fsync of the folder. Missing parents
   * are made (0755). An existing SELinux label is kept; a new file gets the one the policy wants.
   */
  write(path: string, content: string, attributes: FileAttributes): Promise<void>
  /** Moves a file within one file system, over whatever is there, and for good. */
  rename(from: string, to: string): Promise<void>
  /** A missing file is fine. */
  remove(path: string): Promise<void>
  /** The names in a folder, sorted; empty where there is none. */
  names(folder: string): Promise<readonly string[]>
  freeBytes(path: string): Promise<number>
  /** Calls back when one of the paths comes, goes or changes, until aborted. By file notification; callers keep a slow check behind it. */
  watch(paths: readonly string[], onChange: () => void, signal: AbortSignal): Promise<void>
}

export interface Excerpt {
  readonly text: string
  readonly bytes: number
}

/**
 * The few file operations the journal needs, so that the simulator can cut the power between any two of them.
 * Paths are absolute. What was written is safe against power loss only after `sync` of the file, and a new, renamed or
 * removed name only after `syncFolder` of its folder. Errors are SlipwayError with code DiskFull, DiskNotFound or DiskFailed.
 */
export interface Disk {
  /** The whole file as text; undefined where there is none. */
  read(path: string): Promise<string | undefined>
  /** The last `bytes` of a file as text (for log tails); undefined where there is none. */
  readTail(path: string, bytes: number): Promise<string | undefined>
  /** At most `maxBytes` from `offset` on, without the half of a character at its end; undefined where there is no file. */
  readFrom(path: string, offset: number, maxBytes: number): Promise<Excerpt | undefined>
  /** How large the file is; undefined where there is none. */
  bytes(path: string): Promise<number | undefined>
  /** Creates or truncates the file and writes all of it; not durable before `sync`. */
  write(path: string, content: string, mode: number): Promise<void>
  sync(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Creates the folder and its parents; an existing one is fine. */
  makeFolder(path: string): Promise<void>
  syncFolder(path: string): Promise<void>
  /** The names in a folder, sorted; empty where there is none. */
  names(path: string): Promise<readonly string[]>
  /** Removes a folder with all that is in it; a missing one is fine. */
  removeFolder(path: string): Promise<void>
}

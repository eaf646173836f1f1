export interface FolderLocks {
  /**
   * Whether the folder is this process's alone now, until it ends, however that is; false while it is another's, in whatever container
   * of the machine. Makes the folder where it is missing. Throws what may pass: a disk, a machine that is going down.
   */
  take(folder: string, signal: AbortSignal): Promise<boolean>
}

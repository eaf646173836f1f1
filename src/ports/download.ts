import type { Reason } from '../api/reason.ts'

export interface DownloadRequest {
  /** http or https; redirects are followed, from https to https only. */
  readonly url: string
  /** What must come, in hexadecimal: it is checked before the file gets its name. */
  readonly sha256: string
  /** Where it is kept, on the journal's disk; its folder is made. */
  readonly to: string
  readonly mode: number
  /** More than this is refused. */
  readonly maxBytes: number
}

/**
 * Fetches one file that is named by its SHA-256. A file that is there already and has it is not fetched again; a name is given
 * only to a whole and checked file, for good, so nothing half-fetched is ever found after a crash.
 */
export interface Download {
  /**
   * Undefined when the file is there; the reason when it can never be had so (the server refuses, another content, too large, no
   * room on the disk). Throws StagingFailed for what may pass: nobody answers, the connection breaks, the server has a fault.
   */
  fetch(request: DownloadRequest, signal: AbortSignal): Promise<Reason | undefined>
}

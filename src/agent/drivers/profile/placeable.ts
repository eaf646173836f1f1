import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { fileDifference, priorOf } from '../files/managed-file.ts'
import { whyNotWritable } from '../files/writable.ts'
import type { PlacedFile, Site } from './site.ts'

/** Why a file that differs cannot be replaced, or not be put back one day: known before the node is drained for it. */
export async function whyNotPlaceable(
  { host, record }: Site,
  wanted: readonly PlacedFile[],
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { files } = await record.load()
  // What is ours, and folders that are there only for it, may go before.
  const ours = new Set(
    files.flatMap(({ path, prior }) => [path, ...(prior.kind === 'none' ? prior.missingFolders : [])]),
  )
  try {
    for (const file of wanted) {
      if ((await fileDifference(host.files, file)) === undefined) continue
      if (!ours.has(file.path)) await priorOf(host.files, file.path, new Set())
      const message = await whyNotWritable(host, file.path, signal)
      if (message !== undefined) return { code: 'PathTaken', message }
    }
  } catch (error) {
    // All else may be another when it is done: what no profile wants any more goes first.
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    if (error.code === 'PathTaken') return { code: error.code, message: error.message }
  }
  return undefined
}

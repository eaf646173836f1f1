import { SlipwayError } from '../api/slipway-error.ts'

/**
 * What to call a disk that does not let an order go on. Only where the journal itself cannot be kept does nothing start at all;
 * any other file is the trouble of the work that wanted it. Undefined for what is no matter of a disk.
 */
export function stuckCode(
  error: unknown,
  stateDir: string,
): 'JournalCorrupt' | 'JournalUnwritable' | 'StepFailed' | undefined {
  if (!(error instanceof SlipwayError)) return undefined
  if (error.code === 'JournalCorrupt') return error.code
  if (error.code !== 'DiskFull' && error.code !== 'DiskNotFound' && error.code !== 'DiskFailed') return undefined
  return error.path === stateDir || error.path?.startsWith(`${stateDir}/`) ? 'JournalUnwritable' : 'StepFailed'
}

// Waiting for what is usually there at once, without waiting for it for ever.

import { SlipwayError } from '../api/slipway-error.ts'
import type { Clock } from '../ports/clock.ts'
import { LinkedAbort } from './linked-abort.ts'

/** What takes longer is told of. */
const momentMs = 2_000
const tooLong = new SlipwayError('Stopped', 'it takes longer than a moment')

/** Whether the work is done within a moment; after that its signal is aborted. */
export async function settlesSoon(
  clock: Clock,
  work: (signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  const moment = new LinkedAbort(signal)
  const cancel = clock.after(momentMs, () => moment.abort(tooLong))
  try {
    await work(moment.signal)
    return true
  } catch (error) {
    if (error !== tooLong) throw error
    return false
  } finally {
    cancel()
    moment.abort('it has passed')
  }
}

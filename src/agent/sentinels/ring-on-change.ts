import { LinkedAbort } from '../../kube/linked-abort.ts'
import { sleep } from '../../kube/sleep.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Host } from '../../ports/host.ts'
import type { Log } from '../../ports/log.ts'
import type { Random } from '../../ports/random.ts'

export interface Lookout {
  readonly host: Host
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** How long it may take to see a change whose notification was lost. Default five minutes. */
  readonly checkMs?: number
}

/** A change while the notification is being set up is seen by a look a moment later. */
const settleMs = 1_000
const defaultCheckMs = 5 * 60_000

/**
 * Calls `ring` when one of the files comes, goes or changes, and from time to time in case a notification was lost; each time
 * the notification is set up anew, as a folder may have come or gone. Until aborted.
 */
export async function ringOnChange(
  { host, clock, random, log, checkMs = defaultCheckMs }: Lookout,
  paths: readonly string[],
  ring: () => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const round = new LinkedAbort(signal)
    const watching = host.files.watch(paths, ring, round.signal).catch((error: unknown) => {
      log.warn('no file notification; the slow check goes on', { paths, error: String(error) })
    })
    try {
      await sleep(clock, settleMs, signal)
      ring()
      // Machines that were started together must not look together for ever.
      await sleep(clock, checkMs * (0.75 + random.next() / 2), signal)
      ring()
    } finally {
      round.abort('looking anew')
      await watching
    }
  }
}

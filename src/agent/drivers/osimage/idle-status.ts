// Ending the command does not end the work: rpm-ostree is a client of a daemon, which goes on with a transaction when its client is
// gone, and would stage the image minutes later.

import { stagingBegunSchema } from '../../../api/os-image.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { ImageStatus } from '../../../core/image/status.ts'
import type { StepContext } from '../driver.ts'
import { cancelCommand, stagingTransaction } from './image-commands.ts'
import { imageStatus } from './image-state.ts'

const begunNote = 'os-image-staging'
/** It waits until the transaction is gone. */
const cancelTimeoutMs = 2 * 60_000

/** Before the tool is told to stage: from now on what it is busy with may be this order's. */
export async function noteStaging({ notes }: Pick<StepContext, 'notes'>): Promise<void> {
  await notes.write(begunNote, { begun: true })
}

/**
 * What is so, and stays so: nothing is being staged any more. Throws while the tool does not let go, or works for somebody else, who
 * is not to find a package or a kernel argument missing.
 */
export async function idleStatus({ host, notes }: StepContext, signal: AbortSignal): Promise<ImageStatus> {
  const busy = await imageStatus(host, signal)
  if (busy.transaction === undefined) return busy
  const isOurs = stagingTransaction.test(busy.transaction) && (await notes.read(begunNote, stagingBegunSchema))
  if (!isOurs) throw stillBusy(busy, 'is busy with')
  await host.run({ argv: cancelCommand, timeoutMs: cancelTimeoutMs }, signal)
  const status = await imageStatus(host, signal)
  if (status.transaction === undefined) return status
  throw stillBusy(status, 'was told to stop, and is still busy with')
}

function stillBusy({ engine, transaction }: ImageStatus, how: string): SlipwayError {
  const message = `${engine} ${how} “${transaction}”`
  return new SlipwayError('ImageToolFailed', message, { nextStep: 'look at `rpm-ostree status` on the host' })
}

// Ending the command does not end the work: rpm-ostree is a client of a daemon, which goes on with a transaction when its client is
// gone, and would stage the image minutes later.

import { SlipwayError } from '../../../api/slipway-error.ts'
import type { ImageStatus } from '../../../core/image/status.ts'
import type { Host } from '../../../ports/host.ts'
import { cancelCommand } from './image-commands.ts'
import { imageStatus } from './image-state.ts'

/** It waits until the transaction is gone. */
const cancelTimeoutMs = 2 * 60_000

/** What is so, and stays so: nothing is being staged any more. Throws while the tool does not let go. */
export async function idleStatus(host: Host, signal: AbortSignal): Promise<ImageStatus> {
  const busy = await imageStatus(host, signal)
  if (busy.transaction === undefined) return busy
  await host.run({ argv: cancelCommand, timeoutMs: cancelTimeoutMs }, signal)
  const status = await imageStatus(host, signal)
  if (status.transaction === undefined) return status
  const message = `${status.engine} was told to stop, and is still busy with “${status.transaction}”`
  throw new SlipwayError('ImageToolFailed', message, { nextStep: 'look at `rpm-ostree status` on the host' })
}

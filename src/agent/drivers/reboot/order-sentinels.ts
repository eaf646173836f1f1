// Work of a maintenance order may ask for its reboot by the sentinels of the policy. Which these are, and what was seen of them before,
// is noted with the order: whatever the policy says by the time the work is done, the order means what it meant when it came.

import { rebootSentinelsSchema } from '../../../api/journal.ts'
import { isKubeError } from '../../../api/kube-error.ts'
import { type NodeState, nodeStates, type Order } from '../../../api/node-state.ts'
import { asksForReboot, lookForReboot } from '../../sentinels/reboot-wish.ts'
import { sentinelStatus } from '../../sentinels/sentinel-status.ts'
import type { Staging, StepContext } from '../driver.ts'

const note = 'reboot-sentinels'

export async function noteSentinels({ api, nodeName, order, notes }: Staging, signal: AbortSignal): Promise<void> {
  if (!mayAsk(order) || (await notes.read(note, rebootSentinelsSchema))) return
  const state = await ownState(api, nodeName, order, signal)
  if (!state) return
  const { spec, status } = state
  const { reboot, rebootCommand } = spec.sentinels ?? {}
  const { rebootRequired, rebootAskedIn, rebootFiles } = status?.agent?.sentinels ?? {}
  // Also where there are none: the API is not needed for it again, in another life of the agent.
  await notes.write(note, {
    settings: { ...(reboot && { reboot }), ...(rebootCommand && { rebootCommand }) },
    before: {
      ...(rebootRequired !== undefined && { rebootRequired }),
      ...(rebootAskedIn !== undefined && { rebootAskedIn }),
      ...(rebootFiles !== undefined && { rebootFiles }),
    },
  })
}

/** Undefined where the API is away and the order, on an emptied node by now, may do without it. */
async function ownState(
  api: Staging['api'],
  name: string,
  { desired, offline }: Order,
  signal: AbortSignal,
): Promise<NodeState | undefined> {
  try {
    return await api.get(nodeStates, { name }, signal)
  } catch (error) {
    const mayDoWithout = desired !== 'Stage' && offline === 'Allowed'
    if (mayDoWithout && isKubeError(error, 'Unreachable', 'Timeout', 'ServerError')) return undefined
    throw error
  }
}

/** Undefined = they ask for nothing, as where the order came without any, or to an agent that noted none. */
export async function whatSentinelsAsk(
  { host, log, notes, order }: StepContext,
  signal: AbortSignal,
): Promise<'Reboot' | 'Unknown' | undefined> {
  const noted = mayAsk(order) ? await notes.read(note, rebootSentinelsSchema) : undefined
  if (!noted) return undefined
  const seen = await lookForReboot({ host, log }, noted.settings, signal)
  if (seen.rebootRequired === 'Unknown') return 'Unknown'
  // Only whether it is of this boot is of interest, not since when.
  const now = sentinelStatus(noted.before, seen, noted.before.rebootRequired ?? '')
  return asksForReboot(now, await host.bootId()) ? 'Reboot' : undefined
}

/** An update asks for its reboot itself; to maintenance it is left only where reboots are on and may start. */
function mayAsk({ kind, work }: Order): boolean {
  return kind === 'Maintenance' && work.reboot === 'IfRequired'
}

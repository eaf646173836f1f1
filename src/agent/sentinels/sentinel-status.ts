import type { Sentinels } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'

/** What one look at the host showed; undefined = not asked about, or it could not be seen. */
export interface Sighting {
  readonly maintenanceRequired?: boolean | 'Anew'
  readonly maintenanceInProgress?: boolean
  readonly rebootRequired?: boolean | 'Unknown'
  /** When the file that asks for a reboot was written; a command tells nothing like it. */
  readonly rebootWrittenAt?: string
  /** The boot in which the host was looked at. */
  readonly bootID?: string
  readonly failure?: Reason | undefined
}

/** Each with the instant it was first seen, and a reboot with the boot, which stay while it is there: the queue goes by it. */
export function sentinelStatus(before: Sentinels | undefined, seen: Sighting, now: string): Sentinels {
  const { maintenanceRequired, maintenanceInProgress, failure } = seen
  const required = maintenanceRequired === 'Anew' ? now : (before?.maintenanceRequired ?? now)
  return {
    ...(maintenanceRequired && { maintenanceRequired: required }),
    ...(maintenanceInProgress && { maintenanceInProgress: before?.maintenanceInProgress ?? now }),
    ...rebootOf(before, seen, now),
    ...(failure && { failure }),
  }
}

type Reboot = Pick<Sentinels, 'rebootRequired' | 'rebootAskedIn' | 'rebootWrittenAt'>

function rebootOf(before: Sentinels | undefined, seen: Sighting, now: string): Reboot {
  const { rebootRequired, bootID, rebootWrittenAt } = seen
  if (before?.rebootRequired === undefined)
    return rebootRequired === true ? rebootSince(now, bootID, rebootWrittenAt) : {}
  const known = rebootSince(before.rebootRequired, before.rebootAskedIn, before.rebootWrittenAt)
  switch (rebootRequired) {
    case 'Unknown':
      return known
    case true:
      if (before.rebootAskedIn === bootID) return rebootSince(before.rebootRequired, bootID, rebootWrittenAt)
      return isWrittenSince(before, rebootWrittenAt) ? rebootSince(now, bootID, rebootWrittenAt) : known
    default:
      return {}
  }
}

/** Since it was last seen in the boot that it asked to end: another wish, not the old one. */
function isWrittenSince({ rebootRequired, rebootWrittenAt }: Sentinels, at: string | undefined): boolean {
  return at !== undefined && at > (rebootWrittenAt ?? rebootRequired ?? '')
}

function rebootSince(rebootRequired: string, rebootAskedIn?: string, rebootWrittenAt?: string): Reboot {
  return {
    rebootRequired,
    ...(rebootAskedIn !== undefined && { rebootAskedIn }),
    ...(rebootWrittenAt !== undefined && { rebootWrittenAt }),
  }
}

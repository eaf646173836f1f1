import type { Sentinels } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'

/** What one look at the host showed; undefined = not asked about, or it could not be seen. */
export interface Sighting {
  readonly maintenanceRequired?: boolean | 'Anew'
  readonly maintenanceInProgress?: boolean
  readonly rebootRequired?: boolean | 'Anew' | 'Unknown'
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

type Reboot = Pick<Sentinels, 'rebootRequired' | 'rebootAskedIn'>

function rebootOf(before: Sentinels | undefined, { rebootRequired, bootID }: Sighting, now: string): Reboot {
  const known = before && rebootSince(before.rebootRequired, before.rebootAskedIn)
  const anew = rebootSince(now, bootID)
  switch (rebootRequired) {
    case 'Anew':
      return anew
    case 'Unknown':
      return known ?? {}
    case true:
      return known?.rebootRequired === undefined ? anew : known
    default:
      return {}
  }
}

function rebootSince(rebootRequired: string | undefined, rebootAskedIn: string | undefined): Reboot {
  return {
    ...(rebootRequired !== undefined && { rebootRequired }),
    ...(rebootAskedIn !== undefined && { rebootAskedIn }),
  }
}

import type { Sentinels } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'

/** What one look at the host showed; undefined = not asked about, or it could not be seen. */
export interface Sighting {
  readonly maintenanceRequired?: boolean | 'Anew'
  readonly maintenanceInProgress?: boolean
  readonly rebootRequired?: boolean | 'Anew' | 'Unknown'
  readonly failure?: Reason | undefined
}

/** Each with the instant it was first seen, which stays while it is there: the queue goes by it. */
export function sentinelStatus(before: Sentinels | undefined, seen: Sighting, now: string): Sentinels {
  const { maintenanceRequired, maintenanceInProgress, rebootRequired, failure } = seen
  const required = maintenanceRequired === 'Anew' ? now : (before?.maintenanceRequired ?? now)
  const reboot = rebootSince(before?.rebootRequired, rebootRequired, now)
  return {
    ...(maintenanceRequired && { maintenanceRequired: required }),
    ...(maintenanceInProgress && { maintenanceInProgress: before?.maintenanceInProgress ?? now }),
    ...(reboot !== undefined && { rebootRequired: reboot }),
    ...(failure && { failure }),
  }
}

function rebootSince(before: string | undefined, seen: Sighting['rebootRequired'], now: string): string | undefined {
  switch (seen) {
    case 'Anew':
      return now
    case 'Unknown':
      return before
    case true:
      return before ?? now
    default:
      return undefined
  }
}

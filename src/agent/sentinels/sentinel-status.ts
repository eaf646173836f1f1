import type { RebootFile, Sentinels } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'

/** What one look at the host showed; undefined = not asked about, or it could not be seen. */
export interface Sighting {
  readonly maintenanceRequired?: boolean | 'Anew'
  readonly maintenanceInProgress?: boolean
  readonly rebootRequired?: boolean | 'Unknown'
  /** The files that ask for a reboot; none where a command does. */
  readonly rebootFiles?: readonly RebootFile[]
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

type Reboot = Pick<Sentinels, 'rebootRequired' | 'rebootAskedIn' | 'rebootFiles'>

function rebootOf(before: Sentinels | undefined, seen: Sighting, now: string): Reboot {
  const { rebootRequired, bootID, rebootFiles } = seen
  if (before?.rebootRequired === undefined) return rebootRequired === true ? rebootSince(now, bootID, rebootFiles) : {}
  const known = rebootSince(before.rebootRequired, before.rebootAskedIn, before.rebootFiles)
  switch (rebootRequired) {
    case 'Unknown':
      return known
    case true:
      if (before.rebootAskedIn === bootID) return rebootSince(before.rebootRequired, bootID, rebootFiles)
      return isAnotherWish(before, rebootFiles) ? rebootSince(now, bootID, rebootFiles) : known
    default:
      return {}
  }
}

/**
 * In a later boot than the one it asked to end. A file that nothing removes is as it was; any other was written since, also where its
 * time is an earlier one: clocks go back, and files are restored. By the time of its content alone: a script that gives a file its owner
 * or label at each boot would have the host boot for ever.
 */
function isAnotherWish(
  { rebootRequired = '', rebootFiles: before }: Sentinels,
  seen: readonly RebootFile[] = [],
): boolean {
  // Noted by an earlier agent, which kept no files: all that is known of them is when they were first seen.
  if (!before) return seen.some(({ writtenAt }) => writtenAt !== undefined && writtenAt > rebootRequired)
  return !seen.every(({ path, writtenAt }) => before.some((each) => each.path === path && each.writtenAt === writtenAt))
}

function rebootSince(rebootRequired: string, rebootAskedIn?: string, rebootFiles?: readonly RebootFile[]): Reboot {
  return {
    rebootRequired,
    ...(rebootAskedIn !== undefined && { rebootAskedIn }),
    ...(rebootFiles !== undefined && { rebootFiles: [...rebootFiles] }),
  }
}

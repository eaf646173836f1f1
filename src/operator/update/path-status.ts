// What the status says of a path of versions: that there is nothing to do, and which step of it has begun.

import type { DirectUpdate, DirectUpdateStatus } from '../../api/direct-update.ts'
import type { CheckReport } from '../../api/preflight.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { isOwed } from '../../core/hooks/decide-hooks.ts'
import { mergeConditions } from '../../core/update/progress.ts'
import type { RunningOperation } from './running-operation.ts'
import { type Planned, plannedStatus } from './update-status.ts'

/** Nothing on offer would change a node: it is over before it began. */
export function idleStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  plan: Planned,
  now: Date,
): DirectUpdateStatus {
  const message = idleText(plan.path)
  const planned = plannedStatus(update, operation, { ...plan, preview: undefined }, now)
  const say = (type: string, holds: boolean) => ({
    ...{ type, status: holds ? ('True' as const) : ('False' as const), reason: 'Succeeded', message },
  })
  const no = ['Progressing', 'Blocked', 'Failed', 'Reconciling', 'Stalled'].map((type) => say(type, false))
  return {
    ...planned,
    phase: 'Succeeded',
    finishedAt: now.toISOString(),
    conditions: mergeConditions(
      planned.conditions ?? [],
      [say('Succeeded', true), ...no],
      now.toISOString(),
      update.metadata.generation,
    ),
  }
}

export function idleText(path: VersionPath | undefined): string {
  return `nothing to do: every node runs ${path?.target ?? 'it'} or later already, and nothing newer that fits is on offer`
}

/** The next step of its path has begun: its waves are counted anew, and of hooks only what is not over is carried along. */
export function steppedStatus(
  { wave: _wave, gates: _gates, hooks, ...status }: DirectUpdateStatus,
  preflight: readonly CheckReport[],
): DirectUpdateStatus {
  const kept = hooks?.filter((run) => run.operationID === status.operationID || isOwed([run]))
  return {
    ...status,
    ...(kept?.length && { hooks: kept }),
    ...(status.path && { path: advanced(status.path) }),
    preflight: [...preflight],
  }
}

export function advanced(path: VersionPath): VersionPath {
  return { ...path, step: (path.step ?? 0) + 1 }
}

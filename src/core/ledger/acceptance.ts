// Whether a policy can be carried out as it is written, as far as only we can tell: unknown zones, times that never come.

import type { UpdateCondition } from '../../api/direct-update.ts'
import type { MaintenancePolicy, MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'
import { scheduleProblem } from '../backup/store-turn.ts'
import { Calendar } from '../time/calendar.ts'
import { mergeConditions } from '../update/progress.ts'

export interface Acceptance {
  readonly observedGeneration?: number
  readonly conditions: readonly UpdateCondition[]
}

/** What is to be written of it; undefined where that stands there. */
export function acceptanceOf({ metadata, spec, status }: MaintenancePolicy, now: Date): Acceptance | undefined {
  const { generation } = metadata
  const known = status?.conditions?.find(({ type }) => type === 'Accepted')
  if (known && known.observedGeneration === generation) return undefined
  const reason = problemOf(spec)
  const accepted = reason
    ? ({ type: 'Accepted', status: 'False', reason: reason.code, message: reason.message } as const)
    : ({ type: 'Accepted', status: 'True', reason: 'Accepted', message: 'its times are understood' } as const)
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: mergeConditions(status?.conditions ?? [], [accepted], now.toISOString(), generation),
  }
}

function problemOf(spec: MaintenancePolicySpec): Reason | undefined {
  const { problem } = new Calendar(spec)
  if (problem !== undefined) return { code: 'CalendarInvalid', message: `nothing starts: ${problem}` }
  for (const store of spec.backupStores ?? []) {
    const wrong = scheduleProblem(store)
    if (wrong === undefined) continue
    return { code: 'BackupScheduleInvalid', message: `store ${store.name} makes no scheduled backups: ${wrong}` }
  }
  return undefined
}

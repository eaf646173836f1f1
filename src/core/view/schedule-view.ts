import type { ScheduleView } from '../../api/console.ts'
import type { UpdateCondition } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import type { ScheduledUpdate, UpdateSchedule } from '../../api/schedule.ts'

export function scheduledView({ metadata, spec, status }: ScheduledUpdate): ScheduleView {
  const at = status?.at
  const reason = problemOf(status?.conditions)
  const isAhead = (status?.phase ?? 'Scheduled') === 'Scheduled'
  return {
    name: metadata.name,
    kind: 'ScheduledUpdate',
    when: `once, at ${spec.at}${spec.timeZone === undefined ? '' : ` ${spec.timeZone}`}`,
    ...(isAhead && at !== undefined && { next: at }),
    phase: status?.phase ?? 'Scheduled',
    ...(status?.update !== undefined && { last: status.update }),
    ...(reason && { reason }),
  }
}

export function scheduleView({ metadata, spec, status }: UpdateSchedule): ScheduleView {
  const reason = problemOf(status?.conditions)
  const isActive = (status?.active ?? 0) > 0
  return {
    name: metadata.name,
    kind: 'UpdateSchedule',
    when: `${spec.cron} ${spec.timeZone ?? 'UTC'}`,
    ...(status?.nextScheduled !== undefined && { next: status.nextScheduled }),
    phase: spec.suspended ? 'Suspended' : isActive ? 'Executing' : 'Scheduled',
    ...(status?.lastUpdate !== undefined && { last: status.lastUpdate }),
    ...(reason && { reason }),
  }
}

function problemOf(conditions: readonly UpdateCondition[] = []): Reason | undefined {
  const found = conditions.find(({ type, status }) => type === 'Accepted' && status === 'False')
  if (!found) return undefined
  return { code: found.reason as Reason['code'], message: found.message, since: found.lastTransitionTime }
}

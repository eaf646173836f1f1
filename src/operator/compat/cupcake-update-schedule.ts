// CUPCAKE's UpdateSchedule as one of ours, and ours in the words of its status.

import { type CupcakeScheduleStatus, type CupcakeUpdateSchedule, cupcakeScheduleSpecSchema } from '../../api/cupcake.ts'
import { type UpdateSchedule, updateScheduleSpecSchema } from '../../api/schedule.ts'
import { timesOf } from '../../core/schedule/schedule-times.ts'
import { readZone } from '../../core/time/window.ts'
import { cronOf, windowOf } from './cupcake-times.ts'
import { translateWork, workFields } from './cupcake-work.ts'
import { checked, readSpec, type Translated } from './translation.ts'

const fields = {
  cron: 'spec.schedule',
  timeZone: 'spec.maintenanceWindow.timezone',
  'template.spec.windows': 'spec.maintenanceWindow',
  ...Object.fromEntries(
    Object.entries(workFields).map(([ours, theirs]) => [`template.spec.${ours}`, policyField(theirs)]),
  ),
}

function policyField(theirs: string): string {
  return theirs
    .replace('spec.targetVersion', 'spec.updatePolicy.targetVersionPattern')
    .replace('spec.components', 'spec.updatePolicy.components')
}

export function translateUpdateSchedule({
  spec,
}: Pick<CupcakeUpdateSchedule, 'spec'>): Translated<UpdateSchedule['spec']> {
  const read = readSpec(cupcakeScheduleSpecSchema, spec)
  if ('refusal' in read) return read
  const { schedule, updatePolicy, suspended, maintenanceWindow } = read.value
  const cron = cronOf(schedule)
  if ('problem' in cron) return { refusal: `spec.schedule ${cron.problem}` }
  const window = windowOf(maintenanceWindow)
  const { targetVersionPattern, ...policy } = updatePolicy
  const { spec: work, notes: left } = translateWork({ ...policy, version: targetVersionPattern }, undefined)
  const zone = maintenanceWindow?.timezone
  const ours: UpdateSchedule['spec'] = {
    cron: cron.value,
    ...(zone !== undefined && { timeZone: zone }),
    ...(suspended && { suspended }),
    template: { spec: { ...work, ...(window.value && { windows: [window.value] }) } },
  }
  const notes = [...left, ...cron.notes, ...window.notes]
  const result = checked(updateScheduleSpecSchema, ours, notes, fields)
  if ('refusal' in result) return result
  const place = readZone(zone)
  if ('problem' in place) return { refusal: `spec.maintenanceWindow.timezone: ${place.problem}` }
  const times = timesOf(result.spec)
  return 'problem' in times ? { refusal: `spec.schedule: ${times.problem}` } : result
}

export function scheduleStatusOf({ status = {} }: Pick<UpdateSchedule, 'status'>): CupcakeScheduleStatus {
  const { lastScheduled, nextScheduled, lastUpdate, active } = status
  return {
    ...(lastScheduled !== undefined && { lastScheduledTime: lastScheduled }),
    ...(nextScheduled !== undefined && { nextScheduledTime: nextScheduled }),
    ...(lastUpdate !== undefined && { lastUpdateName: lastUpdate }),
    active: active ?? 0,
  }
}

// ScheduledUpdate: one update at a given time. UpdateSchedule: one again and again. Both make ordinary DirectUpdates.

import { z } from 'zod'
import type { CelRule } from './cel-rule.ts'
import { conditionSchema, directUpdateSpecSchema } from './direct-update.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import { durationText, instantText, shapedText } from './scalars.ts'
import { cronText, zoneText } from './window.ts'

const templateSchema = z
  .strictObject({ spec: directUpdateSpecSchema })
  .describe('the DirectUpdate that is made when the time has come')

const startBy = durationText
  .optional()
  .describe('how late it may start, where nobody could start it in time; later it is missed. Default 1h')

export const scheduledUpdateSpecSchema = z.strictObject({
  at: shapedText(
    35,
    '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?',
    'must be a time such as 2026-12-01T22:00:00+01:00, or without the offset and with timeZone',
  ),
  timeZone: zoneText.optional().describe('in which `at` is meant, where it has no offset. Default UTC'),
  startBy,
  template: templateSchema,
})

export const scheduledPhases = ['Scheduled', 'Executing', 'Completed', 'Failed', 'Cancelled', 'Missed'] as const

export const scheduledUpdateStatusSchema = z.strictObject({
  observedGeneration: z.int().optional(),
  phase: z.enum(scheduledPhases).optional(),
  at: instantText.optional().describe('the instant that spec.at means'),
  update: z.string().max(253).optional().describe('the DirectUpdate; written before that is made'),
  executedAt: instantText.optional().describe('when it was made'),
  missedAt: instantText.optional().describe('when it was found to be missed'),
  conditions: z.array(conditionSchema).max(4).optional(),
})

export const overlaps = ['Forbid', 'Replace', 'Allow'] as const

export const updateScheduleSpecSchema = z.strictObject({
  cron: cronText.describe(
    'five fields as in crontab (minute hour day month weekday), @daily and the like, or @every 36h: that long after the run before',
  ),
  timeZone: zoneText.optional(),
  suspended: z.boolean().optional().describe('nothing is made; what was missed meanwhile is not made up for'),
  startBy,
  overlap: z
    .enum(overlaps)
    .optional()
    .describe(
      'what happens while an earlier one runs. Forbid: it waits, for startBy at most. Replace: the earlier one is cancelled first, and it starts by startBy after that has ended. Default Forbid',
    ),
  keep: z.int().min(1).max(100).optional().describe('how many that have ended are kept. Default 10'),
  template: templateSchema,
})

export const updateScheduleStatusSchema = z.strictObject({
  observedGeneration: z.int().optional(),
  lastScheduled: instantText.optional().describe('the last time for which one was made, or missed'),
  nextScheduled: instantText.optional(),
  lastUpdate: z.string().max(253).optional(),
  replacing: instantText
    .optional()
    .describe('the time whose run waits for the end of those that were cancelled for it, however long that takes'),
  active: z.int().min(0).optional().describe('how many have not ended'),
  since: instantText.optional().describe('since when the times are these; earlier ones count for nothing'),
  times: z.string().max(400).optional().describe('cron and zone that were last seen'),
  conditions: z.array(conditionSchema).max(4).optional(),
})

/** Once it is carried out, the update itself is what can be changed. */
export const scheduledUpdateRules: readonly CelRule[] = [
  {
    rule: '!has(oldSelf.status) || !has(oldSelf.status.update) || self.spec == oldSelf.spec',
    message:
      'it is being carried out: change or cancel the DirectUpdate named in status.update, or make another ScheduledUpdate; where that one could not be made, this may be edited when it is Missed',
    fieldPath: '.spec',
  },
]

export type ScheduledPhase = (typeof scheduledPhases)[number]
export type ScheduledUpdateStatus = z.infer<typeof scheduledUpdateStatusSchema>
export type UpdateScheduleStatus = z.infer<typeof updateScheduleStatusSchema>

export interface ScheduledUpdate extends KubeObject {
  readonly spec: z.infer<typeof scheduledUpdateSpecSchema>
  readonly status?: ScheduledUpdateStatus
}

export interface UpdateSchedule extends KubeObject {
  readonly spec: z.infer<typeof updateScheduleSpecSchema>
  readonly status?: UpdateScheduleStatus
}

export const scheduledUpdates: ResourceType<ScheduledUpdate> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'ScheduledUpdate',
  plural: 'scheduledupdates',
  namespaced: false,
}

export const updateSchedules: ResourceType<UpdateSchedule> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'UpdateSchedule',
  plural: 'updateschedules',
  namespaced: false,
}

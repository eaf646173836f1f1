// When work may start: windows that open again and again, and freezes in which nothing does.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { durationText, shapedText } from './scalars.ts'

export const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const workKinds = ['Update', 'Profile', 'Maintenance', 'Reboot'] as const

export const cronText = z
  .string()
  .min(1)
  .max(256)
  .describe('five fields as in crontab (minute hour day month weekday), or @daily and the like')

export const zoneText = shapedText(
  64,
  '[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}',
  'must be the name of a time zone such as Europe/Berlin or UTC',
).describe('a name of the tz database such as Europe/Berlin. Default UTC')

const timeOfDay = (pattern: string, example: string) =>
  shapedText(5, pattern, `must be a time of the day such as ${example}`)

const oneForm = 'has either start and end (with days), or cron and duration'
const zeroLength = 'opens and closes at the same time: for a whole day write start "00:00" and end "24:00"'

export const windowSchema = z
  .strictObject({
    days: z.array(z.enum(weekdays)).min(1).max(7).optional().describe('the days on which it opens; absent = every day'),
    start: timeOfDay('([01][0-9]|2[0-3]):[0-5][0-9]', '22:00').optional(),
    end: timeOfDay('(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)', '04:00')
      .optional()
      .describe('at or before start: on the day after'),
    cron: cronText.optional().describe('when it opens, in place of days and start'),
    duration: durationText.optional().describe('how long it stays open, in place of end'),
    timeZone: zoneText.optional(),
    work: z
      .array(z.enum(workKinds))
      .min(1)
      .max(workKinds.length)
      .optional()
      .describe('the kinds of work it opens for; absent = all'),
  })
  .refine(
    ({ days, start, end, cron, duration }) =>
      cron === undefined
        ? start !== undefined && end !== undefined && duration === undefined
        : duration !== undefined && start === undefined && end === undefined && days === undefined,
    oneForm,
  )
  .refine(({ start, end }) => start === undefined || start !== end, zeroLength)
  .meta(
    celRules(
      {
        rule: 'has(self.cron) ? has(self.duration) && !has(self.start) && !has(self.end) && !has(self.days) : has(self.start) && has(self.end) && !has(self.duration)',
        message: oneForm,
      },
      { rule: '!has(self.start) || !has(self.end) || self.start != self.end', message: zeroLength },
    ),
  )
  .describe('a time in which work may start')

const dayOrInstant = shapedText(
  35,
  '[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))?',
  'must be a day such as 2026-12-20 or an instant such as 2026-12-20T18:00:00+01:00',
)

export const freezeSchema = z
  .strictObject({
    from: dayOrInstant.describe('a day (from its beginning) or an instant'),
    to: dayOrInstant.describe('a day (to its end) or an instant'),
    reason: z.string().min(1).max(256),
    timeZone: zoneText.optional().describe('in which days are meant. Default UTC'),
    work: z.array(z.enum(workKinds)).min(1).max(workKinds.length).optional().describe('absent = all kinds of work'),
  })
  .describe('a time in which nothing starts, whatever the windows say')

export const windowsSchema = z.array(windowSchema).max(16)
export const freezesSchema = z.array(freezeSchema).max(32)

export type WindowSpec = z.infer<typeof windowSchema>
export type FreezeSpec = z.infer<typeof freezeSchema>
export type WorkKind = (typeof workKinds)[number]

// When a schedule of CUPCAKE runs, and within which hours, in our words. Its definition lets through what no cron of ours knows:
// seconds, years, lengths of time, half a window.

import type { CupcakeScheduleSpec } from '../../api/cupcake.ts'
import type { WindowSpec } from '../../api/window.ts'
import { parseDuration } from '../../core/duration.ts'
import { shortestEveryMs } from '../../core/schedule/schedule-times.ts'
import { durationOf } from './cupcake-work.ts'

interface Noted<T> {
  readonly value: T
  readonly notes: readonly string[]
}
type ReadCron = Noted<string> | { readonly problem: string }

export function cronOf(schedule: string): ReadCron {
  const written = schedule.trim()
  if (written.toLowerCase() === '@reboot') {
    return { problem: `"${written}" has no times of the day: write five fields such as 0 2 * * 6` }
  }
  const length = /^@every\s+(.*)$/i.exec(written)?.[1]
  if (length !== undefined) return everyOf(written, length)
  const parts = written.split(/\s+/)
  return parts.length === 6 || parts.length === 7 ? withoutSeconds(written, parts) : { value: written, notes: [] }
}

function everyOf(written: string, length: string): ReadCron {
  const every = durationOf(length)
  if (every === undefined) return { problem: `"${written}" has no duration such as 36h` }
  if (parseDuration(every) >= shortestEveryMs) return { value: `@every ${every}`, notes: [] }
  return { value: '@every 1m', notes: [`schedule: "${written}" is more often than it can be looked at, so it is 1m`] }
}

/** As in the crons that know `@every`: the first of six is the seconds, the last of seven the year. */
function withoutSeconds(written: string, [seconds = '', ...others]: readonly string[]): ReadCron {
  const [minute, hour, day, month, weekday, year = '*'] = others
  if (!/^[\d*?,/-]+$/.test(seconds)) return { problem: `"${written}" begins with "${seconds}", which is no second` }
  if (!['*', '?', '*/1'].includes(year)) {
    return { problem: `"${written}" is for the year ${year} only: write five fields, or a ScheduledUpdate` }
  }
  const value = [minute, hour, day, month, weekday].join(' ')
  const notes = /^0+$/.test(seconds) ? [] : [`schedule: its seconds are left out, so it is ${value}`]
  return { value, notes }
}

/** Where one end is missing, the day's own is meant: less is then open than in any other reading. */
export function windowOf(window: CupcakeScheduleSpec['maintenanceWindow']): Noted<WindowSpec | undefined> {
  const { start, end, timezone } = window ?? {}
  if (start === undefined && end === undefined) return { value: undefined, notes: [] }
  const from = clockOf(start ?? '00:00')
  const to = clockOf(end ?? '24:00')
  const value: WindowSpec = {
    start: from === '24:00' && to !== from ? '00:00' : from,
    end: start === undefined && to === '00:00' ? '24:00' : to,
    ...(timezone !== undefined && { timeZone: timezone }),
  }
  const notes = [
    ...(start === undefined ? ['maintenanceWindow: without start it opens at 00:00'] : []),
    ...(end === undefined ? ['maintenanceWindow: without end it closes at 24:00'] : []),
  ]
  return { value, notes }
}

/** `2:00` is two o'clock. */
function clockOf(text: string): string {
  return /^\d:\d\d$/.test(text.trim()) ? `0${text.trim()}` : text.trim()
}

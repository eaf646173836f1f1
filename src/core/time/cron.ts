// Cron as administrators know it from crontab and from CronJobs: five fields, names, ranges, steps, lists, @daily and the
// like. Where clocks change, nothing is lost and nothing runs twice: see nextRun.

import { civilDay, dayMs, dayNumber, daysInMonth, hourMs, minuteMs, type WallMs, weekday } from './wall-clock.ts'
import type { Zone } from './zone.ts'

export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** Written with a `*`: then the other field of the day decides alone; else either is enough. */
  readonly everyDay: boolean
  readonly everyWeekday: boolean
  readonly everyHour: boolean
}

export type ParsedCron = { readonly cron: Cron } | { readonly problem: string }

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: monthNames },
  { name: 'day of the week', min: 0, max: 7, names: weekdayNames },
] as const satisfies readonly Field[]

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

export function parseCron(text: string): ParsedCron {
  const written = text.trim().toLowerCase()
  const parts = (nicknames[written] ?? written).split(/\s+/)
  if (parts.length !== fields.length) {
    const known = Object.keys(nicknames).join(', ')
    return {
      problem: `"${text}" has ${parts.length} fields instead of five (minute hour day month weekday), nor is it one of ${known}`,
    }
  }
  const read = fields.map((field, index) => readField(parts[index] ?? '', field))
  const problem = read.find((found) => typeof found === 'string')
  if (typeof problem === 'string') return { problem: `"${text}": ${problem}` }
  const [minutes, hours, days, months, weekdays] = read as readonly (readonly number[])[]
  const cron: Cron = {
    minutes: minutes ?? [],
    hours: hours ?? [],
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays?.map((day) => day % 7)),
    everyHour: isStar(parts[1]),
    everyDay: isStar(parts[2]),
    everyWeekday: isStar(parts[4]),
  }
  if (!everFires(cron)) {
    return { problem: `"${text}" never fires: none of its months has such a day` }
  }
  return { cron }
}

/** As in CronJobs: with a step, the field says something and is no star; with a star in its list it is one. */
function isStar(part = ''): boolean {
  return part.split(',').some((item) => /^[*?](\/0*1)?$/.test(item))
}

function readField(text: string, field: Field): readonly number[] | string {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const found = readItem(item, field)
    if (typeof found === 'string') return found
    for (let value = found.first; value <= found.last; value += found.step) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function readItem(item: string, field: Field): { first: number; last: number; step: number } | string {
  const wrong = `"${item}" is no ${field.name}: write a number from ${field.min} to ${field.max}, a range such as ${field.min}-${field.max}, a list, or * with a step such as */2`
  const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d{1,4}))?$/.exec(item)
  if (!match) return wrong
  const [, from = '', to, every] = match
  const star = from === '*' || from === '?'
  if (star && to !== undefined) return wrong
  const first = star ? field.min : numberOf(from, field)
  // A single value with a step goes on to the end of the field.
  const last = to !== undefined ? numberOf(to, field) : star || every !== undefined ? lastOf(field) : first
  const step = every === undefined ? 1 : Number(every)
  if (first === undefined || last === undefined || step === 0) return wrong
  if (last < first)
    return `"${item}" goes backwards: write the ${field.name} as two ranges, such as ${from}-${lastOf(field)},${field.min}-${to}`
  return { first, last, step }
}

/** Both 0 and 7 are Sunday; a star means it once. */
function lastOf(field: Field): number {
  return field.names === weekdayNames ? 6 : field.max
}

function numberOf(text: string, field: Field): number | undefined {
  const named = field.names?.indexOf(text) ?? -1
  if (named >= 0) return named + field.min
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= field.min && value <= field.max ? value : undefined
}

function everFires({ days, months, everyWeekday }: Cron): boolean {
  if (!everyWeekday) return true
  // 2024 has every day a year can have.
  return [...months].some((month) => [...days].some((day) => day <= daysInMonth(2024, month)))
}

/** Far enough for a 29th of February across a century that has none. */
const horizonDays = 9 * 366

/**
 * The first run after an instant. A time that the clocks are put forward over runs at the moment they are; one they are put
 * back over runs the first time only. With every hour (`*`) the runs follow the hours as they really pass.
 */
export function nextRun(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  return cron.everyHour ? nextByHours(cron, zone, afterMs) : nextByWall(cron, zone, afterMs)
}

function nextByWall(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  let wall = nextWall(cron, zone.wallAt(afterMs) + 1)
  while (wall !== undefined) {
    const atMs = zone.firstInstant(wall)
    if (atMs > afterMs) return atMs
    wall = nextWall(cron, wall + 1)
  }
  return undefined
}

function nextByHours(cron: Cron, zone: Zone, afterMs: number): number | undefined {
  let fromMs = afterMs + 1
  for (;;) {
    const wall = nextWall(cron, zone.wallAt(fromMs))
    if (wall === undefined) return undefined
    const atMs = wall - zone.offsetAt(fromMs)
    const change = zone.nextChange(fromMs, atMs)
    if (change === undefined) return atMs
    fromMs = change
  }
}

/** The first whole minute on the wall, this one or a later, that the fields name. */
function nextWall(cron: Cron, from: WallMs): WallMs | undefined {
  const start = Math.ceil(from / minuteMs) * minuteMs
  const firstDay = Math.floor(start / dayMs)
  for (let day = firstDay; day < firstDay + horizonDays; day++) {
    const { year, month, day: dayOfMonth } = civilDay(day * dayMs)
    if (!cron.months.has(month)) {
      day = dayNumber({ year, month: month + 1, day: 1 }) - 1
      continue
    }
    if (!isDay(cron, dayOfMonth, weekday(day))) continue
    const time = timeOfDay(cron, day === firstDay ? start - day * dayMs : 0)
    if (time !== undefined) return day * dayMs + time
  }
  return undefined
}

function isDay(cron: Cron, day: number, dayOfWeek: number): boolean {
  const byDay = cron.days.has(day)
  const byWeekday = cron.weekdays.has(dayOfWeek)
  return cron.everyDay || cron.everyWeekday ? byDay && byWeekday : byDay || byWeekday
}

function timeOfDay({ hours, minutes }: Cron, from: number): number | undefined {
  for (const hour of hours) {
    if ((hour + 1) * hourMs <= from) continue
    const minute = minutes.find((minute) => hour * hourMs + minute * minuteMs >= from)
    if (minute !== undefined) return hour * hourMs + minute * minuteMs
  }
  return undefined
}

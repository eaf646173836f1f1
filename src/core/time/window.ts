// Windows and freezes as stretches of time. The day of a window is the day on which it opens; where clocks change, it opens
// and closes at the first moment at which the wall shows its time or a later one.

import { type FreezeSpec, type WindowSpec, weekdays } from '../../api/window.ts'
import { parseDuration } from '../duration.ts'
import { type Cron, nextRun, parseCron } from './cron.ts'
import type { Opening, Span } from './spans.ts'
import { civilDay, dayMs, dayNumber, minuteMs, weekday } from './wall-clock.ts'
import { type Zone, zoneNamed } from './zone.ts'

export type Read<T> = { readonly value: T } | { readonly problem: string }

export function readZone(name: string | undefined): Read<Zone> {
  const zone = zoneNamed(name ?? 'UTC')
  if (zone) return { value: zone }
  return { problem: `time zone "${name}" is not known: write a name of the tz database such as Europe/Berlin` }
}

export function readWindow(spec: WindowSpec): Read<Opening> {
  const zone = readZone(spec.timeZone)
  if ('problem' in zone) return zone
  if (spec.cron !== undefined && spec.duration !== undefined) {
    const parsed = parseCron(spec.cron)
    if ('problem' in parsed) return { problem: `cron ${parsed.problem}` }
    return { value: openedByCron(parsed.cron, zone.value, parseDuration(spec.duration)) }
  }
  const { days = weekdays, start = '00:00', end = '24:00' } = spec
  // Sunday is the first day for us, Monday for those who write.
  const numbers = new Set(days.map((day) => (weekdays.indexOf(day) + 1) % 7))
  return { value: openedDaily(numbers, timeOfDay(start), timeOfDay(end), zone.value) }
}

/** An instant, or a day: its beginning in that zone. */
export function readFreeze(spec: FreezeSpec): Read<Span> {
  const zone = readZone(spec.timeZone)
  if ('problem' in zone) return zone
  const from = startOf(spec.from, zone.value)
  const to = endOf(spec.to, zone.value)
  if (from === undefined || to === undefined) {
    const wrong = from === undefined ? spec.from : spec.to
    return { problem: `freeze "${spec.reason}": ${wrong} is no day of the calendar` }
  }
  if (to <= from) return { problem: `freeze "${spec.reason}" ends (${spec.to}) before it begins (${spec.from})` }
  return { value: { fromMs: from, toMs: to } }
}

function openedByCron(cron: Cron, zone: Zone, lengthMs: number): Opening {
  return {
    at(atMs) {
      // Opened at or before now and still open, or opening later: the first that has not closed.
      const fromMs = nextRun(cron, zone, atMs - lengthMs)
      return fromMs === undefined ? undefined : { fromMs, toMs: fromMs + lengthMs }
    },
  }
}

/** Two days back: a window of a day may have opened the evening before, and zones are up to 14 hours off. */
function openedDaily(days: ReadonlySet<number>, startMs: number, endMs: number, zone: Zone): Opening {
  const lengthDays = endMs <= startMs ? 1 : 0
  return {
    at(atMs) {
      const today = Math.floor(zone.wallAt(atMs) / dayMs)
      for (let day = today - 2; day <= today + 9; day++) {
        if (!days.has(weekday(day))) continue
        const fromMs = zone.firstInstant(day * dayMs + startMs)
        const toMs = zone.firstInstant((day + lengthDays) * dayMs + endMs)
        // Clocks put forward over all of it leave nothing.
        if (toMs > atMs && toMs > fromMs) return { fromMs, toMs }
      }
      return undefined
    },
  }
}

function timeOfDay(text: string): number {
  const [hours = '0', minutes = '0'] = text.split(':')
  return (Number(hours) * 60 + Number(minutes)) * minuteMs
}

function startOf(text: string, zone: Zone): number | undefined {
  if (text.includes('T')) return instantOf(text)
  const day = dayOf(text)
  return day === undefined ? undefined : zone.firstInstant(day * dayMs)
}

function endOf(text: string, zone: Zone): number | undefined {
  if (text.includes('T')) return instantOf(text)
  const day = dayOf(text)
  return day === undefined ? undefined : zone.firstInstant((day + 1) * dayMs)
}

function instantOf(text: string): number | undefined {
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) || dayOf(text.slice(0, 10)) === undefined ? undefined : atMs
}

/** Nothing for the 30th of February. */
function dayOf(text: string): number | undefined {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  const number = dayNumber({ year, month, day })
  const back = civilDay(number * dayMs)
  return back.month === month && back.day === day ? number : undefined
}

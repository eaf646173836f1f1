// What cron, windows and freezes mean, told by somebody who knows nothing of our parser and our calendar: walks through time
// minute by minute, with a clock on the wall that the engine draws, and reads each text anew for each minute.

import { type FreezeSpec, type WindowSpec, type WorkKind, weekdays } from '../../src/api/window.ts'

export const minute = 60_000
export const hour = 60 * minute
interface Wall {
  readonly minute: number
  readonly hour: number
  readonly day: number
  readonly month: number
  readonly weekday: number
  readonly date: string
}

/** What the wall shows, counted as if it were in UTC. */
export function wallClock(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (atMs) => {
    // "05/01/2026, 08:00"
    const text = format.format(atMs)
    return Date.parse(`${text.slice(6, 10)}-${text.slice(3, 5)}-${text.slice(0, 2)}T${text.slice(12)}:00Z`)
  }
}

function wallOf(shown: number): Wall {
  const date = new Date(shown)
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    date: date.toISOString().slice(0, 10),
  }
}

interface Moment {
  readonly atMs: number
  readonly now: Wall
  /** Every minute the wall has shown or jumped over since the latest it ever showed. */
  readonly fresh: readonly Wall[]
  /** The latest it ever showed. */
  readonly latest: number
}

/** Begins a lead before `fromMs`: longer than an hour that comes twice, and than windows that may have opened before. */
export function walk(zone: string, fromMs: number, toMs: number, leadMs: number): readonly Moment[] {
  const wallAt = wallClock(zone)
  const moments: Moment[] = []
  let latest = wallAt(fromMs - leadMs)
  for (let atMs = fromMs - leadMs + minute; atMs <= toMs; atMs += minute) {
    const shown = wallAt(atMs)
    const fresh: Wall[] = []
    while (latest < shown) {
      latest += minute
      fresh.push(wallOf(latest))
    }
    moments.push({ atMs, now: wallOf(shown), fresh, latest })
  }
  return moments
}

const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * sun',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 jan *',
  '@annually': '0 0 1 jan *',
}
const words = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const dayWords = 'sun mon tue wed thu fri sat'.split(' ')

/** A field without a step of its own that has a star says nothing. */
const isStar = (field: string) => field.split(',').some((item) => /^[*?](\/1)?$/.test(item))

function isNamed(field: string, value: number, last: number, names: readonly string[], first: number): boolean {
  const read = (text: string) => (names.includes(text) ? names.indexOf(text) + first : Number(text))
  return field.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [low = '', high] = range.split('-')
    const from = /[*?]/.test(low) ? first : read(low)
    const to = high === undefined ? (/[*?/]/.test(item) ? last : from) : read(high)
    return from <= value && value <= to && (value - from) % Number(step) === 0
  })
}

interface CronText {
  readonly everyHour: boolean
  readonly names: (wall: Wall) => boolean
  readonly namesDay: (wall: Wall) => boolean
}

function cronOf(text: string): CronText {
  const written = text.trim().toLowerCase()
  const [minutes = '', hours = '', days = '', months = '', daysOfWeek = ''] = (nicknames[written] ?? written).split(
    / +/,
  )
  const named = (field: string, first: number, last: number, names: readonly string[] = []) =>
    Array.from({ length: 60 }, (_, value) => isNamed(field, value, last, names, first))
  const [byMinute, byHour, byDay] = [named(minutes, 0, 59), named(hours, 0, 23), named(days, 1, 31)]
  const byMonth = named(months, 1, 12, words)
  const [sunday, ...others] = named(daysOfWeek, 0, 6, dayWords)
  // Sunday is 0, and 7 where somebody writes that.
  const byWeekday = [sunday || others[6], ...others]
  const isEither = !isStar(days) && !isStar(daysOfWeek)
  const namesDay = ({ day, month, weekday }: Wall) =>
    byMonth[month] === true && (isEither ? byDay[day] || byWeekday[weekday] : byDay[day] && byWeekday[weekday]) === true
  const names = (wall: Wall) => byMinute[wall.minute] === true && byHour[wall.hour] === true && namesDay(wall)
  return { everyHour: isStar(hours), names, namesDay }
}

/** 28 years have every day of the year on every day of the week. */
export function everFires(text: string): boolean {
  const { namesDay } = cronOf(text)
  for (let day = Date.UTC(2024, 0, 1); day < Date.UTC(2052, 0, 1); day += 24 * hour) {
    if (namesDay(wallOf(day))) return true
  }
  return false
}

/** All runs on that walk, those of its lead included. */
export function runsOf(text: string, moments: readonly Moment[]): readonly number[] {
  const { everyHour, names } = cronOf(text)
  return moments.filter(({ now, fresh }) => (everyHour ? names(now) : fresh.some(names))).map(({ atMs }) => atMs)
}

const minutesOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))

/** At which moments of that walk a window is open. */
export function openOf(spec: WindowSpec, moments: readonly Moment[]): readonly boolean[] {
  const { cron, duration, days, start = '', end = '' } = spec
  if (cron !== undefined) {
    const runs = runsOf(cron, moments)
    const lengthMs = Number.parseInt(duration ?? '', 10) * (duration?.endsWith('h') ? hour : minute)
    let opened = 0
    return moments.map(({ atMs }) => {
      while ((runs[opened] ?? Number.POSITIVE_INFINITY) <= atMs) opened++
      return atMs < (runs[opened - 1] ?? Number.NEGATIVE_INFINITY) + lengthMs
    })
  }
  const length = minutesOf(end) > minutesOf(start) ? 0 : 1440
  const isDay = ({ weekday }: Wall) => days?.some((day) => (weekdays.indexOf(day) + 1) % 7 === weekday) ?? true
  // By the wall's own minutes, from the latest it has shown: it never closes and opens again for an hour that comes twice.
  const closes: number[] = []
  return moments.map(({ fresh, latest }) => {
    for (const [index, wall] of fresh.entries()) {
      if (wall.hour * 60 + wall.minute !== minutesOf(start) || !isDay(wall)) continue
      const shown = latest - (fresh.length - 1 - index) * minute
      closes.push(shown + (minutesOf(end) + length - minutesOf(start)) * minute)
    }
    return closes.some((close) => latest < close)
  })
}

function isFrozen({ from, to }: FreezeSpec, { atMs, latest }: Moment): boolean {
  const { date } = wallOf(latest)
  const begun = from.includes('T') ? Date.parse(from) <= atMs : from <= date
  return begun && (to.includes('T') ? atMs < Date.parse(to) : date <= to)
}

/** When work of a kind may start. */
export function openFor(
  work: WorkKind,
  windows: readonly WindowSpec[],
  freezes: readonly FreezeSpec[],
  moments: readonly Moment[],
): ReadonlyMap<number, boolean> {
  const speaks = ({ work: kinds }: { readonly work?: readonly WorkKind[] | undefined }) => kinds?.includes(work) ?? true
  const open = windows.filter(speaks).map((spec) => openOf(spec, moments))
  const closed = freezes.filter(speaks)
  return new Map(
    moments.map((moment, index) => {
      const isWindow = windows.length === 0 || open.some((one) => one[index])
      return [moment.atMs, isWindow && !closed.some((freeze) => isFrozen(freeze, moment))]
    }),
  )
}

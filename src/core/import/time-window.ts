// The window of kured, Kustodian and system-upgrade-controller: days, a start and an end. The day they test is the day it is,
// ours is the day on which the window opens; a night on certain days becomes the two pieces that they really have.

import { type WindowSpec, type WorkKind, weekdays, workKinds } from '../../api/window.ts'
import { readZone } from '../time/window.ts'
import type { Remark } from './imported.ts'

export interface ForeignWindow {
  /** Absent = every day. */
  readonly days?: readonly string[] | undefined
  readonly start?: string | undefined
  readonly end?: string | undefined
  readonly timeZone?: string | undefined
}

/** How the tool names the three, for remarks. */
export interface WindowNames {
  readonly days: string
  readonly start: string
  readonly end: string
  readonly timeZone: string
}

export interface ReadWindow {
  /** Empty = at any time. */
  readonly windows: readonly WindowSpec[]
  readonly remarks: readonly Remark[]
}

type Weekday = (typeof weekdays)[number]

const dayNames: readonly (readonly [Weekday, string])[] = [
  ['Sun', 'sunday'],
  ['Mon', 'monday'],
  ['Tue', 'tuesday'],
  ['Wed', 'wednesday'],
  ['Thu', 'thursday'],
  ['Fri', 'friday'],
  ['Sat', 'saturday'],
]

const secondsOfDay = 86_400
/** Refused by the API server, and read by a person: nothing is opened by guess. */
const unknownWindow: WindowSpec = { start: '<opens at, such as 22:00>', end: '<closes at, such as 04:00>' }

export function readForeignWindow(given: ForeignWindow, names: WindowNames): ReadWindow {
  const days = (given.days ?? weekdays).map((text) => ({ text, day: weekdayOf(text) }))
  const start = secondsOf(given.start ?? '0:00')
  const end = secondsOf(given.end ?? '23:59:59')
  const zone = given.timeZone === undefined || given.timeZone === '' ? 'UTC' : given.timeZone
  const problems = [
    ...days.flatMap(({ text, day }) => (day === undefined ? [`${names.days} ${text}: no day of the week`] : [])),
    ...(days.length === 0 ? [`${names.days}: names no day`] : []),
    ...(start === undefined ? [`${names.start} ${given.start}: no time of the day`] : []),
    ...(end === undefined ? [`${names.end} ${given.end}: no time of the day`] : []),
    ...('problem' in readZone(zone) ? [`${names.timeZone} ${zone}: the tz database has no such zone`] : []),
  ]
  if (problems.length > 0 || start === undefined || end === undefined) return unreadable(problems)
  const chosen = new Set(days.flatMap(({ day }) => day ?? []))
  return opened({ days: weekdays.filter((day) => chosen.has(day)), start, end, zone }, names)
}

interface Span {
  readonly days: readonly Weekday[]
  readonly start: number
  readonly end: number
  readonly zone: string
}

function unreadable(problems: readonly string[]): ReadWindow {
  const text = 'it cannot be read, and no window is opened by guess'
  return {
    windows: [unknownWindow],
    remarks: problems.map((what): Remark => ({ kind: 'ToFillIn', what, text })),
  }
}

function opened({ days, start, end, zone }: Span, names: WindowNames): ReadWindow {
  const from = Math.ceil(start / 60)
  // The second of the end is still open there: 23:59:59 is the end of the day.
  const to = end % 60 === 59 ? (end + 1) / 60 : Math.floor(end / 60)
  const isEveryDay = days.length === 7
  const isCut = start % 60 !== 0 || (end % 60 !== 0 && end % 60 !== 59)
  const remarks: Remark[] = isCut ? [wholeMinutes(names)] : []
  const window = (first: number, last: number): WindowSpec => ({
    ...(!isEveryDay && { days: [...days] }),
    start: clock(first),
    end: clock(last),
    ...(zone !== 'UTC' && { timeZone: zone }),
  })
  const isWholeDay = (from === 0 && to === 1440) || (from === to && start > end)
  if (isWholeDay) return { windows: isEveryDay ? [] : [window(0, 1440)], remarks }
  if (from === to || from === 1440) return unreadable([`${names.start}, ${names.end}: open for less than a minute`])
  if (from < to) return { windows: [window(from, to)], remarks }
  if (to === 0) return { windows: [window(from, 1440)], remarks }
  if (isEveryDay) return { windows: [window(from, to)], remarks }
  return { windows: [window(0, to), window(from, 1440)], remarks: [...remarks, nights(from, to, names)] }
}

function wholeMinutes({ start, end }: WindowNames): Remark {
  const text = 'windows are of whole minutes: the seconds were left off, to the shorter side'
  return { kind: 'Differs', what: `${start}, ${end}`, text }
}

function nights(from: number, to: number, { days, start, end }: WindowNames): Remark {
  return {
    kind: 'Differs',
    what: `${days}, ${start}, ${end}`,
    text: `it tests the day it is, so it opens twice on each of these days, after midnight and in the evening. That is kept. If the nights that begin on these days were meant, make it one window: start "${clock(from)}", end "${clock(to)}"`,
  }
}

/** These windows for one kind of work, and any time for the others: a kind that no window speaks of would never start. */
export function onlyFor(work: WorkKind, windows: readonly WindowSpec[]): readonly WindowSpec[] {
  if (windows.length === 0) return []
  const others = workKinds.filter((kind) => kind !== work)
  return [...windows.map((window) => ({ ...window, work: [work] })), { start: '00:00', end: '24:00', work: others }]
}

function weekdayOf(text: string): Weekday | undefined {
  const name = text.trim().toLowerCase()
  if (/^[0-6]$/.test(name)) return dayNames[Number(name)]?.[0]
  return dayNames.find(([short, long]) => [long, short.toLowerCase(), long.slice(0, 2)].includes(name))?.[0]
}

/** `15:04`, `15:04:05`, `03:04pm`, `15`, `3pm`: in seconds of the day. */
function secondsOf(text: string): number | undefined {
  const match = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(am|pm)?$/i.exec(text.trim())
  if (!match) return undefined
  const [, hours = '', minutes = '0', seconds = '0', half] = match
  const hour = Number(hours)
  if (half !== undefined && (hour < 1 || hour > 12 || match[3] !== undefined)) return undefined
  const ofDay = half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  const total = ofDay * 3600 + Number(minutes) * 60 + Number(seconds)
  return Number(minutes) < 60 && Number(seconds) < 60 && total < secondsOfDay ? total : undefined
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

// Seven rows from noon to noon, so that a night's window stays in one piece. Places follow the clock on the wall: in the night
// in which clocks are changed a row has 23 or 25 hours, and 22:00 still stands below 22:00.

import { dayName, daysLater, hourMs, type WallClock, type ZoneClock } from './wall-clock.ts'

export interface NightPiece<T> {
  readonly left: number
  readonly width: number
  /** It began before this noon, it goes on after the next. */
  readonly cutLeft: boolean
  readonly cutRight: boolean
  readonly of: T
}

export interface Night {
  readonly from: number
  readonly to: number
  /** `Sat 14`, and the day after. */
  readonly day: string
  readonly next: string
  /** 23 or 25 where clocks are changed in it. */
  readonly hours: number
}

interface Timed {
  readonly from: string
  readonly to: string
}

const noon = { hour: 12, minute: 0 } as const
/** Narrower than this it could not be seen. */
const leastPercent = 0.6

/** The night that `now` is in, or is before, moved by `week` weeks; and the six after it. */
export function nights(now: number, clock: ZoneClock, week = 0): readonly Night[] {
  const today = clock.read(now)
  const first = daysLater({ ...today, ...noon }, (today.hour < 12 ? -1 : 0) + week * 7)
  return Array.from({ length: 7 }, (_, index) => night(daysLater(first, index), clock))
}

export function piecesOf<T extends Timed>(night: Night, clock: ZoneClock, all: readonly T[]): readonly NightPiece<T>[] {
  return all.flatMap((of) => {
    const [from, to] = [Date.parse(of.from), Date.parse(of.to)]
    if (!(from < night.to && to > night.from)) return []
    const left = placeInNight(night, clock, from)
    const right = placeInNight(night, clock, to)
    const width = Math.min(100 - left, Math.max(leastPercent, right - left))
    return [{ left, width, cutLeft: from < night.from, cutRight: to > night.to, of }]
  })
}

/** In percent from noon to noon. */
export function placeInNight(night: Night, clock: ZoneClock, ms: number): number {
  if (ms <= night.from) return 0
  if (ms >= night.to) return 100
  const { hour, minute } = clock.read(ms)
  const hours = hour + minute / 60
  return ((hours < 12 ? hours + 12 : hours - 12) / 24) * 100
}

function night(first: WallClock, clock: ZoneClock): Night {
  const next = daysLater(first, 1)
  const [from, to] = [clock.instant(first), clock.instant(next)]
  return { from, to, day: dayName(first), next: dayName(next), hours: Math.round((to - from) / hourMs) }
}

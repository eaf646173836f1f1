// What a clock on the wall shows, as numbers: milliseconds since 1970 as if the wall were in UTC. A wall time is not an
// instant: a zone makes one, two or none of it.

/** Milliseconds since 1970-01-01T00:00 on the wall. */
export type WallMs = number

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** What is on record for a time further ahead than this was written by a clock that was wrong: it counts for nothing. */
export const furthestAheadMs = dayMs

export interface CivilDay {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
}

/** The proleptic Gregorian calendar, counted in days from 1970-01-01. */
export function dayNumber({ year, month, day }: CivilDay): number {
  return Math.round(Date.UTC(year, month - 1, day) / dayMs)
}

export function civilDay(wall: WallMs): CivilDay {
  const date = new Date(wall)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** Sunday is 0. */
export function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

export function daysInMonth(year: number, month: number): number {
  return dayNumber({ year, month: month + 1, day: 1 }) - dayNumber({ year, month, day: 1 })
}

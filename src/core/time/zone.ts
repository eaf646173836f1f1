// A time zone: which instants a time on the wall is. The rules come from the tz database in the JavaScript engine; a year of
// a zone is looked through once, a day at a time, and kept as its changes.

import { dayMs, type WallMs } from './wall-clock.ts'

interface Change {
  readonly atMs: number
  readonly offsetMs: number
}

const yearMs = 366 * dayMs
const offsetText = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/

export class Zone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  /** By number of years of 366 days since 1970: the offset at its start, then each change in it. */
  readonly #years = new Map<number, readonly Change[]>()

  constructor(name: string) {
    this.name = name
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  }

  /** What the wall is ahead of UTC. */
  offsetAt(atMs: number): number {
    let offsetMs = 0
    for (const change of this.#changesIn(Math.floor(atMs / yearMs))) {
      if (change.atMs > atMs) break
      offsetMs = change.offsetMs
    }
    return offsetMs
  }

  wallAt(atMs: number): WallMs {
    return atMs + this.offsetAt(atMs)
  }

  /** The first change of the offset after this instant, up to that one. */
  nextChange(afterMs: number, untilMs: number): number | undefined {
    for (let year = Math.floor(afterMs / yearMs); year * yearMs <= untilMs; year++) {
      // The first entry of a year is its start and no change.
      for (const { atMs } of this.#changesIn(year).slice(1)) {
        if (atMs > afterMs) return atMs <= untilMs ? atMs : undefined
      }
    }
    return undefined
  }

  /**
   * The first instant at which the wall shows this time or a later one of the same morning: where clocks are put forward over
   * it, the moment they are; where they are put back over it, the first of the two.
   */
  firstInstant(wall: WallMs): number {
    // Offsets lie within 26 hours of each other, and no two changes lie within a day.
    const earlier = this.offsetAt(wall - dayMs)
    const change = this.nextChange(wall - dayMs, wall + dayMs)
    const guess = wall - earlier
    if (change === undefined || guess < change) return guess
    return Math.max(change, wall - this.offsetAt(change))
  }

  #changesIn(year: number): readonly Change[] {
    const known = this.#years.get(year)
    if (known) return known
    const found: Change[] = [{ atMs: year * yearMs, offsetMs: this.#look(year * yearMs) }]
    for (let day = 1; day <= 366; day++) {
      const atMs = year * yearMs + day * dayMs
      const before = found.at(-1)?.offsetMs ?? 0
      const offsetMs = this.#look(atMs)
      if (offsetMs !== before && day < 367) found.push({ atMs: this.#bisect(atMs - dayMs, atMs, before), offsetMs })
    }
    const within = found.filter(({ atMs }) => atMs < (year + 1) * yearMs)
    this.#years.set(year, within)
    return within
  }

  /** The first second with another offset than at `low`. */
  #bisect(low: number, high: number, offsetMs: number): number {
    let [same, other] = [low / 1000, high / 1000]
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2)
      if (this.#look(middle * 1000) === offsetMs) same = middle
      else other = middle
    }
    return other * 1000
  }

  #look(atMs: number): number {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = offsetText.exec(this.#format.format(atMs)) ?? []
    const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -size : size
  }
}

const zones = new Map<string, Zone>()

/** The zone of that name in the tz database, or nothing. */
export function zoneNamed(name: string): Zone | undefined {
  const known = zones.get(name)
  if (known) return known
  try {
    const zone = new Zone(name)
    zones.set(name, zone)
    return zone
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

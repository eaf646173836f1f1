// What the clock on the wall of a time zone shows. The page has no time-zone library: the browser knows the zones.

export interface WallClock {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const inWords = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'short', day: 'numeric', month: 'short' })

/** A clock that reads every instant in one zone; an unknown zone is read as UTC. */
export class ZoneClock {
  readonly zone: string
  readonly #parts: Intl.DateTimeFormat

  constructor(zone: string) {
    this.#parts = partsOf(zone) ?? zoned('UTC')
    this.zone = this.#parts.resolvedOptions().timeZone
  }

  read(ms: number): WallClock {
    const read: Record<string, number> = {}
    for (const { type, value } of this.#parts.formatToParts(ms)) read[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = read
    return { year, month, day, hour, minute }
  }

  /** The instant at which the wall shows this; of an hour that comes twice the first, of one that is left out the end. */
  instant(wall: WallClock): number {
    const guess = asUtc(wall)
    const early = guess - this.#offset(guess - dayMs)
    const late = guess - this.#offset(guess + dayMs)
    const fits = [early, late].filter((ms) => asUtc(this.read(ms)) === guess)
    return fits.length > 0 ? Math.min(...fits) : Math.max(early, late)
  }

  time(ms: number): string {
    const { hour, minute } = this.read(ms)
    return `${two(hour)}:${two(minute)}`
  }

  /** `Sat 14`. */
  day(ms: number): string {
    return dayName(this.read(ms))
  }

  #offset(ms: number): number {
    return asUtc(this.read(ms)) - Math.floor(ms / minuteMs) * minuteMs
  }
}

/** `Sat 14`. */
export function dayName(wall: WallClock): string {
  const parts = inWords.formatToParts(asUtc(wall))
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('weekday')} ${part('day')}`
}

export function daysLater(wall: WallClock, days: number): WallClock {
  const at = new Date(asUtc(wall) + days * dayMs)
  return {
    ...wall,
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
  }
}

function asUtc({ year, month, day, hour, minute }: WallClock): number {
  return Date.UTC(year, month - 1, day, hour, minute)
}

function partsOf(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return zoned(zone)
  } catch {
    return undefined
  }
}

function zoned(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric'
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    hourCycle: 'h23',
  })
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

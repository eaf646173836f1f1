// Instants and spans in words. The day is left out where it is today; all in the time zone of whoever reads.

const dayMs = 86_400_000

export interface InstantOptions {
  /** Unless told: that of the browser. */
  readonly zone?: string
  readonly seconds?: boolean
}

/** `01:21` today, `Fri 16:20` within a week, `13 Nov 16:20` beyond. */
export function instantText(atMs: number, nowMs: number, { zone, seconds = false }: InstantOptions = {}): string {
  const time = clockText(atMs, zone, seconds)
  if (dayOf(atMs, zone) === dayOf(nowMs, zone)) return time
  const within = Math.abs(atMs - nowMs) < 6 * dayMs
  const day = parts(atMs, within ? { weekday: 'short' } : { day: 'numeric', month: 'short' }, zone)
  return `${day} ${time}`
}

/** `01:46:12`, always as wide. */
export function clockText(atMs: number, zone?: string, seconds = true): string {
  return parts(
    atMs,
    { hour: '2-digit', minute: '2-digit', ...(seconds && { second: '2-digit' }), hourCycle: 'h23' },
    zone,
  )
}

/** `Sunday 15 November 2026 at 01:46:12 CET`: for titles. */
export function wholeInstant(atMs: number, zone?: string): string {
  const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const
  const time = {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  } as const
  return parts(atMs, { ...day, ...time }, zone)
}

/** `12 s`, `3 m 10 s`, `2 h 14 m`, `3 d 4 h`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const units = [
    { name: 'd', seconds: 86_400 },
    { name: 'h', seconds: 3_600 },
    { name: 'm', seconds: 60 },
    { name: 's', seconds: 1 },
  ] as const
  const at = units.findIndex((unit) => seconds >= unit.seconds)
  const first = units[at]
  if (!first) return '0 s'
  const second = units[at + 1]
  const rest = second ? Math.floor((seconds % first.seconds) / second.seconds) : 0
  return `${Math.floor(seconds / first.seconds)} ${first.name}${second && rest > 0 ? ` ${rest} ${second.name}` : ''}`
}

/** `1:45`, `2:05:09`: what is left until then. */
export function countdownText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const pad = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${pad(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`
}

function dayOf(atMs: number, zone: string | undefined): string {
  return parts(atMs, { year: 'numeric', month: 'numeric', day: 'numeric' }, zone)
}

function parts(atMs: number, format: Intl.DateTimeFormatOptions, zone: string | undefined): string {
  return new Intl.DateTimeFormat('en-GB', { ...format, ...(zone !== undefined && { timeZone: zone }) }).format(atMs)
}

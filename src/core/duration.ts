/** A length of time in milliseconds. Resources speak of durations as text (`1h30m`); inside, they are this. */
export type DurationMs = number

const unitMs = { h: 3_600_000, m: 60_000, s: 1_000 } as const

/** Parses `1h30m`, `30m`, `45s`. The schemas refuse other shapes at the door, so a wrong one here is a defect. */
export function parseDuration(text: string): DurationMs {
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text)
  if (!match || text === '') throw new RangeError(`"${text}" is not a duration such as 30m or 1h30m`)
  const [, hours = '0', minutes = '0', seconds = '0'] = match
  return Number(hours) * unitMs.h + Number(minutes) * unitMs.m + Number(seconds) * unitMs.s
}

/** The shortest text a person reads at a glance: `1h30m`, `2m`, `0s`; fractions of a second are dropped. */
export function formatDuration(ms: DurationMs): string {
  const total = Math.max(0, Math.floor(ms / 1000))
  const parts = [
    [Math.floor(total / 3600), 'h'],
    [Math.floor((total % 3600) / 60), 'm'],
    [total % 60, 's'],
  ] as const
  return parts.map(([value, unit]) => (value > 0 ? `${value}${unit}` : '')).join('') || '0s'
}

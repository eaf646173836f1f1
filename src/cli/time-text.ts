// Spans and instants as people read them at a glance.

/** The two largest units that count: `45s`, `2m10s`, `3h5m`, `2d4h`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joined(minutes, 'm', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return joined(hours, 'h', minutes % 60, 'm')
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}

/** How long ago an instant of the API was; empty where there is none. */
export function ageText(instant: string | undefined, now: Date): string {
  return instant === undefined ? '' : spanText(now.getTime() - Date.parse(instant))
}

/** The time of day, UTC as everywhere in Kubernetes. */
export function clockText(instant: Date): string {
  return instant.toISOString().slice(11, 19)
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size at a glance: `512 B`, `1.4 MiB`. */
export function sizeText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

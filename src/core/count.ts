/** A count as resources write it: a number, or a percentage of `total`, rounded down but never below 1. */
export function resolveCount(count: number | string, total: number): number {
  if (typeof count === 'number') return count
  return Math.max(1, Math.floor((Number(count.slice(0, -1)) * total) / 100))
}

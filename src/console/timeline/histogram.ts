// How the lengths of many runs lie, as columns of one width that begins and ends at a round number.

export interface Column {
  readonly fromSeconds: number
  readonly toSeconds: number
  readonly count: number
}

export interface Histogram {
  readonly columns: readonly Column[]
  readonly fromSeconds: number
  readonly toSeconds: number
  readonly most: number
  /** Half of all runs end within this, nine of ten within that. */
  readonly halfSeconds: number
  readonly mostSeconds: number
  /** Where a length stands between the edges, in percent. */
  readonly at: (seconds: number) => number
}

const columnsWanted = 20
const widths = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200, 86_400]

/** `reachSeconds`: what else has to be on the line, as the moment a window closes. */
export function histogram(durations: readonly number[], reachSeconds = 0): Histogram | undefined {
  const sorted = [...durations].sort((a, b) => a - b)
  const [least, longest] = [sorted[0], sorted.at(-1)]
  if (least === undefined || longest === undefined) return undefined
  const span = Math.max(longest, reachSeconds) - least
  const width = widths.find((one) => span / one <= columnsWanted) ?? Math.ceil(span / columnsWanted / 86_400) * 86_400
  const first = Math.floor(least / width)
  const last = Math.max(Math.floor(longest / width), Math.ceil(reachSeconds / width) - 1)
  const columns = Array.from({ length: last - first + 1 }, (_, index) => {
    const fromSeconds = (first + index) * width
    const inside = sorted.filter((seconds) => seconds >= fromSeconds && seconds < fromSeconds + width)
    return { fromSeconds, toSeconds: fromSeconds + width, count: inside.length }
  })
  const [fromSeconds, toSeconds] = [first * width, (last + 1) * width]
  return {
    columns,
    fromSeconds,
    toSeconds,
    most: Math.max(...columns.map(({ count }) => count)),
    halfSeconds: quantile(sorted, 0.5),
    mostSeconds: quantile(sorted, 0.9),
    at: (seconds) => Math.min(100, Math.max(0, ((seconds - fromSeconds) / (toSeconds - fromSeconds)) * 100)),
  }
}

/** The smallest length within which that share of the runs ended. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

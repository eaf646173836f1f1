/** What a figure must not pass; `atLeast` for those that are better when bigger. */
export type Limit = { readonly atMost: number } | { readonly atLeast: number }

/** One row of the table. */
export interface Figure {
  readonly what: string
  readonly measured: number
  readonly wanted: Limit
  /** `s`, `MiB`, `×`; empty for a bare count or ratio. */
  readonly unit: string
}

/** One run that yields one or more figures, and what else it saw on the way. */
export interface Measurement {
  readonly figures: readonly Figure[]
  readonly seen: Readonly<Record<string, number | string>>
}

export interface Bench {
  readonly name: string
  /** Its figures are times by the clock on the wall: nothing else may run meanwhile. */
  readonly alone: boolean
  measure(signal: AbortSignal): Promise<Measurement>
}

export function isMet({ measured, wanted }: Figure): boolean {
  return 'atMost' in wanted ? measured <= wanted.atMost : measured >= wanted.atLeast
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = sorted.slice(middle - 1, middle + 1)
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : (low + high) / 2
}

export function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

import type { Standing } from '../update/standing.ts'

export function isOver({ standing }: { readonly standing: Standing }): boolean {
  return standing === 'done' || standing === 'failed'
}

/** Of those that are known. */
export function leastOf(values: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined
  for (const value of values) if (value !== undefined && (found === undefined || value < found)) found = value
  return found
}

export function mostOf(values: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined
  for (const value of values) if (value !== undefined && (found === undefined || value > found)) found = value
  return found
}

export function instant(ms: number): string {
  return new Date(ms).toISOString()
}

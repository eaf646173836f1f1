import { quantityFactors } from '../../api/quantity.ts'

// Read otherwise than in src/core: what the simulated scheduler finds must not be wrong in the same way as what preflight foretells.
/** A quantity of the API, as `250m`, `1Gi` or `1e3`; what cannot be read counts as nothing. */
export function quantity(value: string | number | undefined): number {
  if (value === undefined) return 0
  const parts = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/.exec(String(value))
  const factor = quantityFactors[parts?.[2] ?? '']
  const number = Number(parts?.[1])
  return factor === undefined || Number.isNaN(number) ? 0 : number * factor
}

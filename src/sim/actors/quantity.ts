const factors: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

// Not that of src/core: what the simulated scheduler finds must not be wrong in the same way as what preflight foretells.
/** A quantity of the API, as `250m`, `1Gi` or `1e3`; what cannot be read counts as nothing. */
export function quantity(value: string | number | undefined): number {
  if (value === undefined) return 0
  const parts = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([A-Za-z]{0,2})$/.exec(String(value))
  const factor = factors[parts?.[2] ?? '']
  const number = Number(parts?.[1])
  return factor === undefined || Number.isNaN(number) ? 0 : number * factor
}

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

/** A resource quantity as Kubernetes writes it (`250m`, `1.5Gi`, `1e3`); undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const parts = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text)
  if (!parts) return undefined
  const [, digits = '', exponent = '', suffix = ''] = parts
  return Number(digits + exponent) * (factors[suffix] ?? 1)
}

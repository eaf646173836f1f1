import { quantityFactors } from '../../api/quantity.ts'

/** A resource quantity as Kubernetes writes it (`250m`, `1.5Gi`, `1e3`); undefined for anything else. */
export function parseQuantity(text: string): number | undefined {
  const parts = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text)
  if (!parts) return undefined
  const [, digits = '', exponent = '', suffix = ''] = parts
  return Number(digits + exponent) * (quantityFactors[suffix] ?? 1)
}

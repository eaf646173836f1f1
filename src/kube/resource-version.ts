/**
 * Compares two resource versions of one resource type: below 0 when `a` is older. Kubernetes defines them as decimal
 * numbers that may outgrow 53 bits, so they are compared as text.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

import type { Grant } from '../../api/maintenance-policy.ts'

/** Slots that came back, then those that went out. */
export function changedGrants(before: readonly Grant[], after: readonly Grant[]): readonly Grant[] {
  // Most passes book nothing, and then it is the very same list.
  if (before === after) return []
  const key = ({ node, nodeUID, holder }: Grant) => `${node} ${nodeUID} ${holder}`
  const old = new Set(before.map(key))
  const now = new Set(after.map(key))
  return [...before.filter((grant) => !now.has(key(grant))), ...after.filter((grant) => !old.has(key(grant)))]
}

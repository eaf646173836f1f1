// Who may spend a budget that several drains wait for: the node that was taken first, until none of its pods needs it any
// more. Two drains that shared an allowance could each end half empty, with the pods of both waiting for the other's node.

/** What a draining node still needs of one budget. */
export interface BudgetClaim {
  /** When the node was taken. */
  readonly since: string
  /** Pods that would go now if the budget let them. */
  readonly pods: number
}

export interface Allowance {
  readonly left: number
  /** A node that goes first, where that leaves nothing. */
  readonly before?: string
}

/** What is left for this node of what the budget allows, when those that were taken before it have theirs. */
export function allowanceFor(
  node: string,
  since: string,
  allowed: number,
  claims: Iterable<readonly [string, BudgetClaim]>,
): Allowance {
  let left = allowed
  let before: string | undefined
  for (const [other, claim] of claims) {
    if (other === node || claim.pods === 0 || !isBefore(other, claim.since, node, since)) continue
    left -= claim.pods
    before ??= other
  }
  return allowed > 0 && left <= 0 && before !== undefined ? { left, before } : { left }
}

function isBefore(a: string, sinceA: string, b: string, sinceB: string): boolean {
  // Mostly the same text: nodes are taken in batches.
  const order = sinceA === sinceB ? 0 : Date.parse(sinceA) - Date.parse(sinceB)
  return order < 0 || (order === 0 && a < b)
}

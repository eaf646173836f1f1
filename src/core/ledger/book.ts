// The ledger as a value: grants come and go only here. The caller writes the result with a compare-and-swap.

import type { Grant, Ledger, Turn } from '../../api/maintenance-policy.ts'

export interface LedgerChange {
  readonly grants: readonly Grant[]
  /** Nodes whose slot goes back, each only if it is still held as stated: by that operation, on that very machine. */
  readonly returns: readonly { readonly node: string; readonly nodeUID: string; readonly holder: string }[]
  /** Who was given a slot when, after this change. */
  readonly turns?: readonly Turn[] | undefined
}

/** The ledger after the change; the same object when nothing changes. */
export function changeLedger(ledger: Ledger, change: LedgerChange): Ledger {
  const kept = ledger.grants.filter(
    (grant) =>
      !change.returns.some(
        ({ node, nodeUID, holder }) => node === grant.node && nodeUID === grant.nodeUID && holder === grant.holder,
      ),
  )
  const booked = new Set(kept.map(({ node }) => node))
  const added: Grant[] = []
  for (const grant of change.grants) {
    if (booked.has(grant.node)) continue
    booked.add(grant.node)
    added.push(grant)
  }
  if (added.length === 0 && kept.length === ledger.grants.length) return ledger
  const { turns = ledger.turns } = change
  return { ...ledger, grants: [...kept, ...added], ...(turns && { turns }) }
}

/** What a new leader writes first: from then on nothing decided under an older epoch can be booked. */
export function nextEpoch(ledger: Ledger | undefined): Ledger {
  return { grants: [], ...ledger, epoch: (ledger?.epoch ?? 0) + 1 }
}

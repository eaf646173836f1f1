import { ownerOfOperation } from '../../core/update/operation.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LedgerBook } from '../ledger/ledger-book.ts'

/** Nodes with a slot of this update. */
export function heldNodes({ grants }: LedgerBook, update: string): readonly string[] {
  return grants.filter(({ holder }) => ownerOfOperation(holder) === update).map(({ node }) => node)
}

/** Nodes that staged for this update, or failed to, and have no slot. */
export function stagingNodes({ states }: Cluster, update: string): readonly string[] {
  const names: string[] = []
  for (const { metadata, spec, status } of states.values()) {
    const { order } = spec
    const rollout = status?.rollout
    const staged = order?.desired === 'Stage' && ownerOfOperation(order.id) === update
    const marked = rollout && rollout.phase !== 'Done' && !rollout.cordon
    if (staged || (marked && ownerOfOperation(rollout.operationID) === update)) names.push(metadata.name)
  }
  return names
}

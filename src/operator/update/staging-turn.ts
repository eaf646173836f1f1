// Whose wish to stage a node comes first: only one order at a time can stand there.

import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { operationOfOrder } from '../../core/node/order.ts'
import type { RunningOperation } from './running-operation.ts'

/**
 * The oldest first; but one that may begin nothing now keeps no node from those that may. `shut`: why nothing of it may begin, by
 * the policy.
 */
export function* stagingTurn(
  operations: Iterable<RunningOperation>,
  shut: (operation: RunningOperation) => Reason | undefined,
): Generator<RunningOperation> {
  const heldUp: RunningOperation[] = []
  for (const operation of operations) {
    if (operation.held() ?? shut(operation)) heldUp.push(operation)
    else yield operation
  }
  yield* heldUp
}

/** Why a node that has no slot is not one operation's to stage: it does so for another that comes first. */
export function stagingFirst(
  operations: readonly RunningOperation[],
  states: { get(node: string): NodeState | undefined },
  shut: (operation: RunningOperation) => Reason | undefined,
): (node: string, id: string) => Reason | undefined {
  if (operations.length < 2) return () => undefined
  const inTurn = [...stagingTurn(operations, shut)]
  const places = new Map(inTurn.map(({ id }, place) => [id, place]))
  return (node, id) => {
    const order = states.get(node)?.spec.order
    if (order?.desired !== 'Stage') return undefined
    const place = places.get(operationOfOrder(order)) ?? Number.POSITIVE_INFINITY
    const other = place < (places.get(id) ?? 0) ? inTurn[place] : undefined
    return other?.table.isStaging(node) && other.wantsStaged(node)
      ? { code: 'NodeHeldElsewhere', message: `${node} stages for ${other.id} first` }
      : undefined
  }
}

// Whose wish to stage a node comes first: only one order at a time can stand there.

import type { Reason } from '../../api/reason.ts'
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

// What cancelling an operation makes of a node that holds a slot for it. Who only drains is put back; who has an order finishes
// it, or is asked to undo it; who failed stays as it is, for a person to look at.

import type { NodeState, Order } from '../../api/node-state.ts'
import type { Operation } from '../update/operation.ts'
import { enter } from './enter-phase.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { earlierFailure, hasStopped, lastWord, orderID } from './order.ts'

/** Undefined: the node's life goes on as ever. */
export function cancelNode(view: NodeView, operation: Operation): NodeAction | 'release' | undefined {
  const { state } = view
  const rollout = state.status?.rollout
  const { order } = state.spec
  if (operation.cancel === undefined) return undefined
  if (rollout?.operationID !== operation.id || rollout.phase === 'Staging') return 'release'
  if (rollout.phase === 'Done' || rollout.phase === 'Failed') return undefined
  if (order?.id === orderID(operation, rollout.attempt) && order.desired !== 'Stage') {
    const word = lastWord(order, state)?.state
    if (word === 'Withdrawn' || word === 'Refused') return 'release'
    return operation.cancel === 'PutBack' ? askBack(order, state) : undefined
  }
  const failure = earlierFailure(state, operation)
  // It was about to be tried again: it is still the node that failed.
  return failure ? enter(view, rollout, 'Failed', { reason: failure }) : 'release'
}

/** Asks once; the agent decides, and its word is waited for. */
function askBack(order: Order, state: NodeState): NodeAction | undefined {
  if (order.desired !== 'Run' || hasStopped(order, state)) return undefined
  return { action: 'setOrder', order: { ...order, desired: 'PutBack' } }
}

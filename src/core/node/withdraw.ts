import type { NodeState, Order } from '../../api/node-state.ts'
import type { NodeAction } from './node-view.ts'
import { hasStopped } from './order.ts'

/** Asks the agent to stop, once; then its word is waited for. */
export function withdraw(order: Order): NodeAction {
  return order.desired !== 'Withdraw'
    ? { action: 'setOrder', order: { ...order, desired: 'Withdraw' } }
    : { action: 'wait' }
}

/** Before the node is anybody else's: undefined once nothing of its order can start any more. */
export function endOrder(state: NodeState): NodeAction | undefined {
  const { order } = state.spec
  return order && !hasStopped(order, state) ? withdraw(order) : undefined
}

import type { Order } from '../../api/node-state.ts'
import type { NodeAction } from './node-view.ts'

/** Asks the agent to stop, once; then its word is waited for. */
export function withdraw(order: Order): NodeAction {
  return order.desired !== 'Withdraw'
    ? { action: 'setOrder', order: { ...order, desired: 'Withdraw' } }
    : { action: 'wait' }
}

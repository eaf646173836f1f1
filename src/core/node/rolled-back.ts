import type { NodeState } from '../../api/node-state.ts'
import { belongsTo } from './order.ts'

/** Whether what the order of the present rollout had done was undone, after one of its steps failed. */
export function isRolledBack(state: NodeState | undefined): boolean {
  const { rollout, agent } = state?.status ?? {}
  const report = agent?.order
  if (!rollout || report?.rolledBack !== true || report.state !== 'Failed') return false
  const order = state?.spec.order
  return order?.id === report.id && belongsTo(order, rollout.operationID)
}

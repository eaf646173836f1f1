// An order that the agent ended because it would have disturbed a node that stays at work. The node did not fail: another
// operation takes it, with a drain. Until then the order stays where it is, so that this is known.

import type { NodeState } from '../../api/node-state.ts'
import type { Operation } from '../update/operation.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { belongsTo, lastWord } from './order.ts'

export function isDrainNeeded({ id, disruption }: Operation, state: NodeState): boolean {
  const { order } = state.spec
  if (disruption !== 'None' || !order || !belongsTo(order, id)) return false
  return lastWord(order, state)?.reason?.code === 'DrainNeeded'
}

/** Gives the slot back after the rollout says no more that the node is under work. */
export function leaveAtWork({ state, now }: NodeView, operation: Operation): NodeAction | undefined {
  if (!isDrainNeeded(operation, state)) return undefined
  const { rollout } = state.status ?? {}
  if (rollout?.operationID !== operation.id || rollout.phase === 'Staging') return { action: 'returnGrant' }
  const { kind, update, operationID, attempt } = rollout
  const since = now.toISOString()
  const again = { ...(kind && { kind }), update, operationID, attempt, phase: 'Staging' as const, since }
  return { action: 'setRollout', rollout: again }
}

// A node that failed though it stayed at work keeps its slot until a person says that it is fit, or tries it again. No cordon
// shows that they have put it back: they say so on the Node, and the rollout keeps it.

import { releasedAnnotation } from '../../api/hold.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { endOrder } from './withdraw.ts'

export function leaveUndrained({ node, state }: NodeView, rollout: Rollout): NodeAction {
  if (rollout.cordon === undefined) return { action: 'returnGrant' }
  if (node.metadata.annotations?.[releasedAnnotation] !== releaseWord(rollout)) return { action: 'wait' }
  const { cordon: _cordon, ...rest } = rollout
  return endOrder(state) ?? { action: 'setRollout', rollout: rest }
}

/** What the annotation must say: it is for this failure only. */
export function releaseWord({ operationID, attempt }: Pick<Rollout, 'operationID' | 'attempt'>): string {
  return `${operationID}/${attempt}`
}

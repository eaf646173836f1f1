// A node that has its slot and nothing done to it yet: whether it is begun, after its hooks, or given back.

import type { Node } from '../../api/kube.ts'
import type { Rollout } from '../../api/node-state.ts'
import { firstReason } from '../drain/in-good-order.ts'
import type { Operation } from '../update/operation.ts'
import { cordonOwner, isCordoned, isReady } from './node-facts.ts'
import { cleanUp, hooksBefore } from './node-hooks.ts'
import { holdOf, isTaken } from './node-marks.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { atRest, attemptOf, belongsTo, completedBefore, hasStopped, nextAttempt } from './order.ts'
import { withdraw } from './withdraw.ts'

export function startNode(view: NodeView, operation: Operation): NodeAction {
  const { node, state, now } = view
  const before = state.status?.rollout
  const { order } = state.spec
  // The ledger was lost and the node given anew: what the other operation has under way here ends first.
  if (before && !atRest.has(before.phase) && order && !hasStopped(order, state)) return withdraw(order)
  const isFree = operation.disruption === 'Drain' && !isTaken(node, operation.id)
  // The slot may be old: a node that fell over since it was granted is waited for, not worked on. Nor is one begun whose window
  // closed during its hooks, where the policy holds what is under way: it would be away until the next.
  const isTooLate = !isCordoned(node) && (!isReady(node) || view.heldOver !== undefined)
  // A person may have said otherwise meanwhile: where it is not tried again, nothing is under way there yet.
  const isTried = before?.operationID === operation.id && before.cordon !== undefined
  const isForbidden = !isTried && (holdOf(node) !== undefined || view.paused === true || isLeftOut(node, operation))
  if (isFree && (isTooLate || isForbidden)) return cleanUp(view) ?? { action: 'returnGrant' }
  const hooked = hooksBefore(view, operation, () => beginRollout(view, operation, { phase: 'Pending' }))
  if (hooked) return hooked
  if (isFree) return { action: 'cordon' }
  return beginRollout(view, operation, {
    phase: 'Draining',
    reason: { ...firstReason(operation), since: now.toISOString() },
    deadline: new Date(now.getTime() + operation.drain.timeoutMs).toISOString(),
    cordon: { prior: isCordoned(node) && cordonOwner(node) === undefined ? 'Unschedulable' : 'Schedulable' },
  })
}

/** Whoever names the node for another attempt means it all the same. */
function isLeftOut({ metadata: { name } }: Node, { skip, retry }: Operation): boolean {
  return skip?.has(name) === true && retry?.nodes?.includes(name) !== true
}

function beginRollout(
  { state, grant, now }: NodeView,
  operation: Operation,
  part: Pick<Rollout, 'phase' | 'reason' | 'deadline' | 'cordon'>,
): NodeAction {
  const { order } = state.spec
  const before = state.status?.rollout
  // Tried again, and its hooks have run again: it is the same node under work.
  const tried = before?.operationID === operation.id && before.phase === 'Pending' ? before : undefined
  const done = completedBefore(state)
  return {
    action: 'setRollout',
    ...(done.length > 0 && { completed: done }),
    rollout: {
      ...(operation.kind && { kind: operation.kind }),
      update: operation.update,
      operationID: operation.id,
      since: now.toISOString(),
      ...(grant && { takenAt: grant.since }),
      attempt:
        tried?.attempt ?? (order && belongsTo(order, operation.id) ? attemptOf(order) : nextAttempt(state, operation)),
      ...part,
      ...(tried?.cordon && { cordon: tried.cordon }),
      ...(tried?.failure && { failure: tried.failure }),
      ...(tried?.retried !== undefined && { retried: tried.retried }),
    },
  }
}

// Staging: what the work needs is fetched and checked while the node still works. It needs no slot and takes nothing away, so
// an order that is only to be staged can be replaced or dropped at any time: no step of it runs before it says Run.

import type { NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import type { Operation } from '../update/operation.ts'
import { isBroken, isRetryDue, retryMark } from '../update/retry.ts'
import { isDrainNeeded } from './drain-needed.ts'
import { isPast, watchDeadline } from './enter-phase.ts'
import { isReady } from './node-facts.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { attemptOf, belongsTo, completedBefore, lastWord, makeOrder, nextAttempt } from './order.ts'

export type StagingState = 'no' | 'asked' | 'unheard' | 'ready'

/** How far the node is with staging for this operation; unheard: its agent has not taken the order in good time. */
export function stagingState({ spec, status }: NodeState, operationID: string): StagingState {
  const { order } = spec
  if (!order || !belongsTo(order, operationID) || order.desired !== 'Stage') return 'no'
  const report = status?.agent?.order
  if (report?.id === order.id) return report.state === 'Staged' ? 'ready' : 'asked'
  const { rollout } = status ?? {}
  return rollout?.operationID === operationID && rollout.reason?.code === 'WaitingForAgent' ? 'unheard' : 'asked'
}

/** A node without a slot that is to stage for this operation, or does already. */
export function stageNode(view: NodeView, operation: Operation): NodeAction {
  const { state } = view
  const { order } = state.spec
  const rollout = state.status?.rollout
  const isAgain = rollout !== undefined && isRetryDue(operation, view.node.metadata.name, rollout)
  const isOver = rollout?.operationID === operation.id && rollout.phase !== 'Staging'
  if (isOver && !isAgain && !isLateAnswer(state, rollout)) return { action: 'wait' }
  const next = isAgain ? rollout.attempt + 1 : nextAttempt(state, operation)
  if (!order || !belongsTo(order, operation.id)) {
    const busy = order !== undefined && order.desired !== 'Stage' && !lastWord(order, state)
    return busy ? { action: 'wait' } : { action: 'setOrder', order: stagingOrder(view, operation, next) }
  }
  if (attemptOf(order) < next) return { action: 'setOrder', order: stagingOrder(view, operation, next) }
  if (isDrainNeeded(operation, state)) return { action: 'wait' }
  const report = state.status?.agent?.order
  if (report?.id !== order.id) return awaitAgent(view, operation, order)
  switch (report.state) {
    case 'Accepted':
      return tell(view, operation, order, 'Staging', report.reason)
    // What it waited for before is over.
    case 'Staged':
      return rollout?.operationID === operation.id && rollout.reason
        ? tell(view, operation, order, 'Staging', undefined)
        : { action: 'wait' }
    case 'Failed':
      return tell(view, operation, order, 'Failed', report.reason)
    case 'Refused':
    case 'RequiresAttention':
      return tell(view, operation, order, 'RequiresAttention', report.reason)
    // The agent remembers an order of this name. A profile that is edited back asks for what it asked for before: that is another
    // order. For anything else the record of the node was lost, and its agent says what became of it.
    case 'Succeeded':
      return operation.kind === 'NodeProfile'
        ? { action: 'setOrder', order: stagingOrder(view, operation, attemptOf(order) + 1) }
        : tell(view, operation, order, 'Done', undefined)
    case 'Withdrawn':
      return { action: 'setOrder', order: stagingOrder(view, operation, attemptOf(order) + 1) }
    default:
      return { action: 'wait' }
  }
}

/** A person was called for since the agent did not take the order, and now it has. */
function isLateAnswer({ spec, status }: NodeState, { phase, reason }: Rollout): boolean {
  const isLate = phase === 'RequiresAttention' && reason?.code === 'OrderTimedOut'
  return isLate && spec.order !== undefined && status?.agent?.order?.id === spec.order.id
}

/** An agent that is gone keeps the others waiting for so long only; one whose node is not Ready is waited for. */
function awaitAgent(view: NodeView, operation: Operation, order: Order): NodeAction {
  const { node, state, now } = view
  const { name } = node.metadata
  if (!isReady(node)) return tell(view, operation, order, 'Staging', undefined)
  const { rollout } = state.status ?? {}
  const isTold = rollout?.operationID === operation.id && rollout.attempt === attemptOf(order)
  if (!(isTold && rollout.deadline)) {
    const message = `the agent on ${name} has not accepted the order yet`
    const deadline = new Date(now.getTime() + parseDuration(operation.nodeTimeout)).toISOString()
    return tell(view, operation, order, 'Staging', { code: 'WaitingForAgent', message }, deadline)
  }
  if (!isPast(rollout.deadline, view)) return watchDeadline(view, rollout)
  const within = `within nodeTimeout (${operation.nodeTimeout})`
  const message = `the agent on ${name} has not accepted the order ${within}; look at its log, nothing was begun on the node`
  return tell(view, operation, order, 'RequiresAttention', { code: 'OrderTimedOut', message })
}

function stagingOrder(view: NodeView, operation: Operation, attempt: number): Order {
  return { ...makeOrder(view, operation, attempt), desired: 'Stage' }
}

function tell(
  { state, now }: NodeView,
  operation: Operation,
  order: Order,
  phase: Rollout['phase'],
  reason: Reason | undefined,
  deadline?: string,
): NodeAction {
  const before = state.status?.rollout
  const attempt = attemptOf(order)
  const same = before?.operationID === operation.id && before.phase === phase && before.attempt === attempt
  if (same && before.reason?.message === reason?.message) return { action: 'wait' }
  const at = now.toISOString()
  const completed = completedBefore(state)
  return {
    action: 'setRollout',
    ...(phase === 'Staging' && { unhurried: true }),
    ...(completed.length > 0 && { completed }),
    rollout: {
      ...(operation.kind && { kind: operation.kind }),
      update: operation.update,
      operationID: operation.id,
      phase,
      since: same ? before.since : at,
      attempt,
      ...(deadline !== undefined && { deadline }),
      ...(phase === 'Done' && { finishedAt: state.status?.agent?.order?.finishedAt ?? at }),
      ...(isBroken(phase) && retryMark(operation)),
      ...(reason && { reason: { ...reason, since: reason.since ?? at } }),
    },
  }
}

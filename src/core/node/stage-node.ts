// Staging: what the work needs is fetched and checked while the node still works. It needs no slot and takes nothing away, so
// an order that is only to be staged can be replaced or dropped at any time: no step of it runs before it says Run.

import type { Node } from '../../api/kube.ts'
import type { NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import type { Operation } from '../update/operation.ts'
import { isBroken, isRetryDue, retryMark } from '../update/retry.ts'
import { isDrainNeeded } from './drain-needed.ts'
import { isPast, watchDeadline } from './enter-phase.ts'
import { isReady } from './node-facts.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { attemptOf, belongsTo, completedBefore, isOutdated, lastWord, makeOrder, nextAttempt } from './order.ts'

/** How long an agent may take to say how its staging ended. */
const tellingMs = 5 * 60_000

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
  if (isOver && !isAgain && !isLateAnswer(view, rollout)) return { action: 'wait' }
  const next = isAgain ? rollout.attempt + 1 : nextAttempt(state, operation)
  if (!order || !belongsTo(order, operation.id)) {
    const busy = order !== undefined && order.desired !== 'Stage' && !lastWord(order, state)
    return busy ? { action: 'wait' } : { action: 'setOrder', order: stagingOrder(view, operation, next) }
  }
  if (attemptOf(order) < next) return { action: 'setOrder', order: stagingOrder(view, operation, next) }
  if (isOutdated(order, view.work) && !lastWord(order, state)) {
    return { action: 'setOrder', order: stagingOrder(view, operation, attemptOf(order) + 1) }
  }
  if (isDrainNeeded(operation, state)) return { action: 'wait' }
  const report = state.status?.agent?.order
  if (report?.id !== order.id) return awaitAgent(view, operation, order, accepting(view, operation))
  switch (report.state) {
    case 'Accepted':
      return awaitAgent(view, operation, order, fetching(view, order, report.reason))
    // What it waited for before is over.
    case 'Staged':
      return rollout?.operationID === operation.id && (rollout.reason || rollout.deadline)
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

/** A person was called for since the agent said nothing, and now it has. */
function isLateAnswer({ state: { spec, status }, node }: NodeView, { phase, reason }: Rollout): boolean {
  const { order } = spec
  const report = status?.agent?.order
  if (phase !== 'RequiresAttention' || reason?.code !== 'OrderTimedOut' || report?.id !== order?.id) return false
  // Where it was waited for to stage, that it took the order is no news.
  return order !== undefined && (report?.state !== 'Accepted' || reason.message !== notStaged(node, order).message)
}

/** What is waited for, for how long, and what is said then. */
interface Patience {
  readonly reason: Reason | undefined
  /** What is known besides, while the node is not Ready. */
  readonly known?: Reason | undefined
  readonly withinMs: number
  readonly late: Reason
}

/** For the agent to take the order. */
function accepting({ node }: NodeView, { nodeTimeout }: Operation): Patience {
  return {
    reason: { code: 'WaitingForAgent', message: `the agent on ${node.metadata.name} has not accepted the order yet` },
    withinMs: parseDuration(nodeTimeout),
    late: late(node, `has not accepted the order within nodeTimeout (${nodeTimeout})`),
  }
}

/** One that lives says within the order's time how staging ended. */
function fetching({ node }: NodeView, order: Order, trouble: Reason | undefined): Patience {
  const withinMs = parseDuration(order.timeout) + tellingMs
  return { reason: trouble, known: trouble, withinMs, late: notStaged(node, order) }
}

function notStaged(node: Node, { timeout }: Order): Reason {
  return late(node, `accepted the order and has not staged it within its time (${timeout})`)
}

function late({ metadata: { name } }: Node, what: string): Reason {
  return {
    code: 'OrderTimedOut',
    message: `the agent on ${name} ${what}; look at its log, nothing was begun on the node`,
  }
}

/** An agent that is gone keeps the others waiting for so long only; its time begins anew with each news. */
function awaitAgent(view: NodeView, operation: Operation, order: Order, patience: Patience): NodeAction {
  const { node, state, now } = view
  const { reason, known, withinMs, late } = patience
  // One whose node is not Ready is waited for.
  if (!isReady(node)) return tell(view, operation, order, 'Staging', known)
  const { rollout } = state.status ?? {}
  const isTold = rollout?.operationID === operation.id && rollout.attempt === attemptOf(order)
  if (!isTold || !rollout.deadline || rollout.reason?.message !== reason?.message) {
    return tell(view, operation, order, 'Staging', reason, new Date(now.getTime() + withinMs).toISOString())
  }
  if (!isPast(rollout.deadline, view)) return watchDeadline(view, rollout)
  return tell(view, operation, order, 'RequiresAttention', late)
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
  const isTold = before?.reason?.message === reason?.message && Boolean(before?.deadline) === (deadline !== undefined)
  if (same && isTold) return { action: 'wait' }
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

// Rule 11: an order runs only on the machine it was made for, never after a younger one, never twice. Pure; the table of cases
// is in fencing.test.ts.

import type { AgentRecord } from '../api/journal.ts'
import type { AgentOrder, NodeState, Order } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import { equalJson } from '../core/merge-patch.ts'

export interface OrderView {
  readonly order: Order
  /** The uid of the Node that owns the NodeState; undefined where it names none. */
  readonly nodeUID: string | undefined
  readonly record: AgentRecord
  /** What the journal knows of this order's id. */
  readonly journalled: { readonly order: Order; readonly end?: AgentOrder } | undefined
  /** Kinds of work the order asks for that no driver of this agent does. */
  readonly withoutDriver: readonly string[]
}

export type Verdict =
  /** Seen for the first time, and good. */
  | { readonly verdict: 'accept' }
  /** Journalled and not ended: go on. */
  | { readonly verdict: 'resume' }
  /** Ended before: say so again. */
  | { readonly verdict: 'repeat'; readonly report: AgentOrder }
  /** Not to be run; to be journalled so that it never is. */
  | { readonly verdict: 'withdraw'; readonly reason: Reason }
  | { readonly verdict: 'refuse'; readonly reason: Reason }

export function judgeOrder(view: OrderView): Verdict {
  const { order, journalled } = view
  // One that was withdrawn runs under no name again: whoever asks is told so, and asks under the next.
  if (journalled?.end?.state === 'Withdrawn') return { verdict: 'repeat', report: journalled.end }
  if (journalled && !sameOrder(journalled.order, order)) {
    const reason = fencedOff(`order ${order.id} is in the journal with other content`)
    return journalled.end ? { verdict: 'refuse', reason } : { verdict: 'withdraw', reason }
  }
  if (journalled?.end) return { verdict: 'repeat', report: journalled.end }
  const obstacle = fence(view)
  if (journalled) return obstacle ? { verdict: 'withdraw', reason: obstacle } : { verdict: 'resume' }
  if (obstacle) return { verdict: 'refuse', reason: obstacle }
  if (order.desired === 'Withdraw' || order.desired === 'PutBack')
    return { verdict: 'withdraw', reason: withdrawn('it was withdrawn before it began') }
  if (view.withoutDriver.length > 0) {
    const message = `this agent has no driver for ${view.withoutDriver.join(', ')}`
    return { verdict: 'refuse', reason: { code: 'DriverMissing', message } }
  }
  return { verdict: 'accept' }
}

/** Why the order that is under way must not go on, by the newest NodeState; undefined when it may. */
export function whyStop(order: Order, state: NodeState | undefined): Reason | undefined {
  if (!state || state.metadata.deletionTimestamp !== undefined) return withdrawn('its NodeState is gone')
  const wanted = state.spec.order
  if (!wanted) return withdrawn('it was taken out of the NodeState')
  if (wanted.id !== order.id) return withdrawn(`order ${wanted.id} took its place`)
  if (!sameOrder(wanted, order))
    return fencedOff(`order ${order.id} was replaced by one of the same id with other content`)
  if (wanted.desired === 'Withdraw') return withdrawn('the operator withdrew it')
  if (nodeUIDOf(state) !== order.nodeUID) return fencedOff('the Node of this name is another one by now')
  return undefined
}

/** Why what was done is to be taken back, where the operator asks for that; whether it can be is the agent's to say. */
export function whyBack(order: Order, state: NodeState | undefined): Reason | undefined {
  const wanted = state?.spec.order
  if (wanted?.id !== order.id || wanted.desired !== 'PutBack') return undefined
  return withdrawn('the update was cancelled; what was done is as before')
}

export function nodeUIDOf(state: NodeState): string | undefined {
  return state.metadata.ownerReferences?.find((owner) => owner.kind === 'Node')?.uid
}

function fence({ order, nodeUID, record }: OrderView): Reason | undefined {
  if (nodeUID === undefined) return fencedOff('the NodeState names no Node as its owner')
  if (order.nodeUID !== nodeUID) return fencedOff(`the order is for Node uid ${order.nodeUID}, this is ${nodeUID}`)
  if (order.epoch < record.epoch) {
    return fencedOff(`the order is of ledger epoch ${order.epoch}, this agent has seen ${record.epoch}`)
  }
  return undefined
}

/** What makes an order what it is; `desired`, `offline` and `epoch` are circumstances that may change while it stands. */
function sameOrder(a: Order, b: Order): boolean {
  return (
    a.id === b.id &&
    a.update === b.update &&
    a.nodeUID === b.nodeUID &&
    a.role === b.role &&
    a.timeout === b.timeout &&
    equalJson(a.work, b.work)
  )
}

function fencedOff(message: string): Reason {
  return { code: 'FencedOff', message }
}

function withdrawn(message: string): Reason {
  return { code: 'OrderWithdrawn', message }
}

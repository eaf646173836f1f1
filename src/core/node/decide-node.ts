// One node's life: what to do next with a node, from what the API says alone. Level-based: every call looks at everything,
// so that a crash between any two writes is healed by the next look.

import type { Node } from '../../api/kube.ts'
import type { Grant } from '../../api/maintenance-policy.ts'
import type { AgentOrder, NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import type { Operation } from '../update/operation.ts'
import { sickness } from './health.ts'
import { cordonOwner, isCordoned, isReady, roleOf } from './node-facts.ts'

export interface DrainReport {
  readonly total: number
  /** Pods that must still go. */
  readonly left: number
  /** Those of them that cannot be asked to go now, and why. */
  readonly blocked: readonly { readonly pod: string; readonly reason: Reason }[]
}

export interface NodeView {
  readonly node: Node
  readonly state: NodeState
  readonly grant: Grant | undefined
  /** The operation the grant is for, as it stands now; undefined when it is deleted or was replaced by an edit. */
  readonly operation: Operation | undefined
  /** Undefined while the node's pods are not known. */
  readonly drain: DrainReport | undefined
  /** When the node's kubelet last renewed its Lease; undefined while not looked at. */
  readonly leaseRenewedAt: string | undefined
  readonly epoch: number
  readonly now: Date
  /** Nothing is judged late before this: after a change of leader everybody gets a fair time to report. */
  readonly graceUntil: Date
}

export type NodeAction =
  | { readonly action: 'cordon' }
  | { readonly action: 'uncordon' }
  /** `unhurried`: a state that usually passes at once, worth a write only when it lasts. */
  | {
      readonly action: 'setRollout'
      readonly rollout: Rollout
      readonly unhurried?: true
      /** What the node is done for so far: a new rollout must not make an update that still runs take it again. */
      readonly completed?: readonly string[]
    }
  | { readonly action: 'watchPods' }
  | { readonly action: 'watchLease' }
  | { readonly action: 'setOrder'; readonly order: Order }
  /** Takes our marks off the NodeState: the operation is gone and nothing of it runs. */
  | { readonly action: 'clear' }
  | { readonly action: 'returnGrant' }
  /** A node under work without a slot: the ledger was lost; book it before anything else. */
  | { readonly action: 'regrant' }
  | { readonly action: 'wait'; readonly untilMs?: number }

const atRest = new Set<Rollout['phase']>(['Done'])
const lastWords = new Set<AgentOrder['state']>(['Succeeded', 'Failed', 'Withdrawn', 'Refused'])

export function decideNode(view: NodeView): NodeAction {
  const { grant, operation, state, node } = view
  const rollout = state.status?.rollout
  if (!grant) {
    if (rollout && !atRest.has(rollout.phase)) return { action: 'regrant' }
    return isOurCordon(node) ? { action: 'uncordon' } : { action: 'wait' }
  }
  if (operation?.id !== grant.holder) return releaseNode(view, grant)
  if (rollout?.operationID !== operation.id) return startNode(view, operation)
  switch (rollout.phase) {
    case 'Done':
      return isOurCordon(node) && rollout.cordon?.prior !== 'Unschedulable'
        ? { action: 'uncordon' }
        : { action: 'returnGrant' }
    case 'Failed':
      return { action: 'wait' }
    default:
      return workNode(view, operation, rollout)
  }
}

/** The agent's last word on the order, where it has given one. */
export function lastWord(order: Order, state: NodeState): AgentOrder | undefined {
  const report = state.status?.agent?.order
  return report?.id === order.id && lastWords.has(report.state) ? report : undefined
}

function startNode(view: NodeView, operation: Operation): NodeAction {
  const { node, state, now } = view
  const before = state.status?.rollout
  const { order } = state.spec
  // The ledger was lost and the node given anew: what the other operation has under way here ends first.
  if (before && !atRest.has(before.phase) && order && !hasStopped(order, state)) return withdraw(order)
  if (!isCordoned(node)) {
    // The slot may be old: a node that fell over since it was granted is waited for, not worked on.
    return isReady(node) ? { action: 'cordon' } : { action: 'returnGrant' }
  }
  const done = before && atRest.has(before.phase) ? [before.operationID, ...(state.status?.completed ?? [])] : []
  return {
    action: 'setRollout',
    ...(done.length > 0 && { completed: done.slice(0, 20) }),
    rollout: {
      update: operation.update,
      operationID: operation.id,
      phase: 'Draining',
      since: now.toISOString(),
      deadline: new Date(now.getTime() + operation.drain.timeoutMs).toISOString(),
      attempt: 1,
      cordon: { prior: isOurCordon(node) ? 'Schedulable' : 'Unschedulable' },
    },
  }
}

function workNode(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  const { state } = view
  const order = state.spec.order
  if (order?.id !== orderID(operation, rollout)) return drainNode(view, operation, rollout)
  const report = state.status?.agent?.order
  if (report?.id !== order.id) return awaitAcceptance(view, operation, rollout)
  switch (report.state) {
    case 'Accepted':
    case 'Staged':
    case 'Running':
      if (rollout.phase === 'Working' || rollout.phase === 'RequiresAttention') {
        return watchDeadline(view, rollout, orderLate(operation))
      }
      return enter(view, rollout, 'Working', { deadlineMs: parseDuration(operation.nodeTimeout) })
    case 'Succeeded':
      return verifyNode(view, operation, rollout, report)
    case 'Failed':
      return enter(view, rollout, 'Failed', {
        reason: report.reason ?? { code: 'StepFailed', message: 'the agent gave no reason' },
      })
    case 'Withdrawn':
      return enter(view, { ...rollout, attempt: rollout.attempt + 1 }, 'Draining', {
        deadlineMs: operation.drain.timeoutMs,
      })
    case 'Refused':
    case 'RequiresAttention':
      if (rollout.phase === 'RequiresAttention') return { action: 'wait' }
      return enter(view, rollout, 'RequiresAttention', {
        reason: report.reason ?? { code: 'OrderRefused', message: 'the agent refused the order and gave no reason' },
      })
  }
}

function drainNode(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  const { node, drain, now } = view
  if (!isCordoned(node)) return { action: 'cordon' }
  if (!drain) return { action: 'watchPods' }
  if (drain.left === 0) return { action: 'setOrder', order: makeOrder(view, operation, rollout) }
  const late = isPast(rollout.deadline, view)
  const pods = drain.blocked.slice(0, 20)
  const code = late ? 'DrainTimedOut' : pods[0]?.reason.code
  const changed = code !== rollout.reason?.code || !sameBlockers(pods, rollout.drain?.pods ?? [])
  if (changed) {
    const [first] = pods
    const message = first
      ? `${first.reason.message}${others(drain.blocked.length - 1)}`
      : `${drain.left} of ${drain.total} pods left`
    return {
      action: 'setRollout',
      unhurried: true,
      rollout: {
        ...rollout,
        drain: { total: drain.total, left: drain.left, pods },
        reason: code && { code, message: message.slice(0, 4000), since: now.toISOString() },
      },
    }
  }
  return watchDeadline(view, rollout)
}

function awaitAcceptance(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  if (rollout.phase === 'Assigned' || rollout.phase === 'RequiresAttention') {
    return watchDeadline(view, rollout, orderLate(operation))
  }
  return enter(view, rollout, 'Assigned', {
    deadlineMs: parseDuration(operation.nodeTimeout),
    reason: {
      code: 'WaitingForAgent',
      message: `the agent on ${view.node.metadata.name} has not accepted the order yet`,
    },
    unhurried: true,
  })
}

function verifyNode(view: NodeView, operation: Operation, rollout: Rollout, report: AgentOrder): NodeAction {
  const { node } = view
  const verdict = sickness(node, {
    target: operation.work.kubernetes?.version,
    report,
    leaseRenewedAt: view.leaseRenewedAt,
  })
  if (verdict?.look === 'lease' && view.leaseRenewedAt === undefined) return { action: 'watchLease' }
  if (!verdict) {
    if (rollout.cordon?.prior !== 'Unschedulable' && isOurCordon(node)) return { action: 'uncordon' }
    return enter(view, rollout, 'Done', { finished: true })
  }
  if (rollout.phase === 'Verifying' || rollout.phase === 'RequiresAttention') {
    return watchDeadline(view, rollout, verdict.reason)
  }
  return enter(view, rollout, 'Verifying', {
    deadlineMs: parseDuration(operation.nodeTimeout),
    reason: verdict.reason,
    unhurried: true,
  })
}

/** Puts a node back whose operation is gone: nothing of it may run any more before the slot is returned. */
function releaseNode({ state, node }: NodeView, grant: Grant): NodeAction {
  const { order } = state.spec
  if (order?.id.startsWith(`${grant.holder}/`) && !hasStopped(order, state)) return withdraw(order)
  const rollout = state.status?.rollout
  const ours = rollout?.operationID === grant.holder
  if (isOurCordon(node) && !(ours && rollout.cordon?.prior === 'Unschedulable')) return { action: 'uncordon' }
  if (ours && !atRest.has(rollout.phase)) return { action: 'clear' }
  return { action: 'returnGrant' }
}

/** Asks the agent to stop, once; then its word is waited for. */
function withdraw(order: Order): NodeAction {
  return order.desired === 'Run' ? { action: 'setOrder', order: { ...order, desired: 'Withdraw' } } : { action: 'wait' }
}

function hasStopped(order: Order, state: NodeState): boolean {
  const report = state.status?.agent?.order
  return lastWord(order, state) !== undefined || (report?.id === order.id && report.state === 'RequiresAttention')
}

function makeOrder({ node, epoch }: NodeView, operation: Operation, rollout: Rollout): Order {
  const role = roleOf(node)
  return {
    id: orderID(operation, rollout),
    update: operation.update,
    nodeUID: node.metadata.uid,
    epoch,
    role,
    // A control-plane node's own work may take the API away; everybody else waits for a fresh word.
    offline: role === 'ControlPlane' ? 'Allowed' : 'Refused',
    desired: 'Run',
    timeout: operation.nodeTimeout,
    work: operation.work,
  }
}

function orderID(operation: Operation, rollout: Rollout): string {
  return `${operation.id}/${rollout.attempt}`
}

function orderLate(operation: Operation): Reason {
  return {
    code: 'OrderTimedOut',
    message: `the agent has not finished within nodeTimeout (${operation.nodeTimeout}); look at its log on the node, nothing is assumed`,
  }
}

function enter(
  { now }: NodeView,
  rollout: Rollout,
  phase: Rollout['phase'],
  detail: {
    readonly deadlineMs?: number
    readonly reason?: Reason
    readonly finished?: boolean
    readonly unhurried?: true
  } = {},
): NodeAction {
  const { deadline: _deadline, reason: _reason, drain: _drain, ...kept } = rollout
  const at = now.toISOString()
  return {
    action: 'setRollout',
    ...(detail.unhurried && { unhurried: true }),
    rollout: {
      ...kept,
      phase,
      since: at,
      ...(detail.deadlineMs !== undefined && { deadline: new Date(now.getTime() + detail.deadlineMs).toISOString() }),
      ...(detail.reason && { reason: { ...detail.reason, since: detail.reason.since ?? at } }),
      ...(detail.finished && { finishedAt: at }),
    },
  }
}

/** Waits for the deadline; once it is past, asks for a person. Time alone never frees a slot. */
function watchDeadline(view: NodeView, rollout: Rollout, late?: Reason): NodeAction {
  if (!rollout.deadline || rollout.phase === 'RequiresAttention') return { action: 'wait' }
  if (!isPast(rollout.deadline, view)) {
    return { action: 'wait', untilMs: Math.max(Date.parse(rollout.deadline), view.graceUntil.getTime()) }
  }
  return late ? enter(view, rollout, 'RequiresAttention', { reason: late }) : { action: 'wait' }
}

function isPast(deadline: string | undefined, { now, graceUntil }: NodeView): boolean {
  return deadline !== undefined && now.getTime() >= Math.max(Date.parse(deadline), graceUntil.getTime())
}

function isOurCordon(node: Node): boolean {
  return cordonOwner(node) !== undefined
}

function others(count: number): string {
  return count > 0 ? `; and ${count} more` : ''
}

function sameBlockers(a: DrainReport['blocked'], b: DrainReport['blocked']): boolean {
  return (
    a.length === b.length && a.every(({ pod, reason }, i) => pod === b[i]?.pod && reason.code === b[i]?.reason.code)
  )
}

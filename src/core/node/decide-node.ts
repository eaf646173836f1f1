// One node's life: what to do next with a node, from what the API says alone. Level-based: every call looks at everything,
// so that a crash between any two writes is healed by the next look.

import type { Node } from '../../api/kube.ts'
import type { Grant } from '../../api/maintenance-policy.ts'
import type { AgentOrder, Order, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import type { Operation } from '../update/operation.ts'
import { sickness } from './health.ts'
import { cordonOwner, isCordoned, isReady } from './node-facts.ts'
import { cleanUp, hooksAfter, hooksBefore } from './node-hooks.ts'
import type { DrainReport, NodeAction, NodeView } from './node-view.ts'
import { atRest, attemptOf, belongsTo, completedBefore, hasStopped, makeOrder, orderID } from './order.ts'
import { stageNode } from './stage-node.ts'

/** Nothing has been done to the node yet. */
const beforeWork: ReadonlySet<Rollout['phase']> = new Set(['Staging', 'Pending'])

export function decideNode(view: NodeView): NodeAction {
  const { grant, operation, state, node } = view
  const rollout = state.status?.rollout
  if (!grant) return withoutSlot(view)
  if (operation?.id !== grant.holder) return releaseNode(view, grant)
  if (rollout?.operationID !== operation.id || beforeWork.has(rollout.phase)) return startNode(view, operation)
  switch (rollout.phase) {
    case 'Done':
      return isOurCordon(node) && rollout.cordon?.prior !== 'Unschedulable'
        ? { action: 'uncordon' }
        : (cleanUp(view) ?? { action: 'returnGrant' })
    case 'Failed':
      return cleanUp(view) ?? { action: 'wait' }
    default:
      return workNode(view, operation, rollout)
  }
}

function withoutSlot(view: NodeView): NodeAction {
  const { state, node, staging } = view
  const rollout = state.status?.rollout
  const { order } = state.spec
  // Whatever was cordoned is under work: the ledger must know.
  if (rollout?.cordon && !atRest.has(rollout.phase)) return { action: 'regrant' }
  if (isOurCordon(node)) return { action: 'uncordon' }
  const owed = cleanUp(view)
  if (owed) return owed
  const isAbandoned = rollout?.operationID !== staging?.id || rollout?.phase === 'Pending'
  if (rollout && !atRest.has(rollout.phase) && isAbandoned) return { action: 'clear' }
  if (staging) return stageNode(view, staging)
  return order?.desired === 'Stage' ? { action: 'dropOrder' } : { action: 'wait' }
}

function startNode(view: NodeView, operation: Operation): NodeAction {
  const { node, state, now } = view
  const before = state.status?.rollout
  const { order } = state.spec
  // The ledger was lost and the node given anew: what the other operation has under way here ends first.
  if (before && !atRest.has(before.phase) && order && !hasStopped(order, state)) return withdraw(order)
  const isUntouched = !isCordoned(node) && operation.disruption === 'Drain'
  // The slot may be old: a node that fell over since it was granted is waited for, not worked on.
  if (isUntouched && !isReady(node)) return { action: 'returnGrant' }
  const hooked = hooksBefore(view, operation, () => beginRollout(view, operation, { phase: 'Pending' }))
  if (hooked) return hooked
  if (isUntouched) return { action: 'cordon' }
  return beginRollout(view, operation, {
    phase: 'Draining',
    deadline: new Date(now.getTime() + operation.drain.timeoutMs).toISOString(),
    cordon: { prior: isCordoned(node) && !isOurCordon(node) ? 'Unschedulable' : 'Schedulable' },
  })
}

function beginRollout(
  { state, now }: NodeView,
  operation: Operation,
  part: Pick<Rollout, 'phase' | 'deadline' | 'cordon'>,
): NodeAction {
  const { order } = state.spec
  const done = completedBefore(state)
  return {
    action: 'setRollout',
    ...(done.length > 0 && { completed: done }),
    rollout: {
      ...(operation.kind && { kind: operation.kind }),
      update: operation.update,
      operationID: operation.id,
      since: now.toISOString(),
      attempt: order && belongsTo(order, operation.id) ? attemptOf(order) : 1,
      ...part,
    },
  }
}

function workNode(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  const { state } = view
  const order = state.spec.order
  if (order?.id !== orderID(operation, rollout.attempt) || order.desired === 'Stage') {
    return drainNode(view, operation, rollout)
  }
  const report = state.status?.agent?.order
  if (report?.id !== order.id) return awaitAcceptance(view, operation, rollout)
  switch (report.state) {
    case 'Staged':
      return awaitAcceptance(view, operation, rollout)
    case 'Accepted':
    case 'Running': {
      // The script on the host says itself that it failed: nobody has to wait for its time to be over.
      const failure = order.work.maintenance && state.status?.agent?.sentinels?.failure
      if (failure && rollout.phase === 'Working') return enter(view, rollout, 'RequiresAttention', { reason: failure })
      if (rollout.phase === 'Working' || rollout.phase === 'RequiresAttention') {
        return watchDeadline(view, rollout, orderLate(operation))
      }
      return enter(view, rollout, 'Working', { deadlineMs: parseDuration(operation.nodeTimeout) })
    }
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
  if (operation.disruption === 'None') {
    return { action: 'setOrder', order: makeOrder(view, operation, rollout.attempt) }
  }
  if (!isCordoned(node)) return { action: 'cordon' }
  if (!drain) return { action: 'watchPods' }
  if (drain.left === 0) return { action: 'setOrder', order: makeOrder(view, operation, rollout.attempt) }
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
    target: view.work.kubernetes?.version,
    report,
    leaseRenewedAt: view.leaseRenewedAt,
    controllers: view.controllers,
  })
  if (verdict?.look === 'controllers' && view.controllers === undefined) return { action: 'watchControllers' }
  if (verdict?.look === 'lease' && view.leaseRenewedAt === undefined) return { action: 'watchLease' }
  if (!verdict) {
    const held = passChecks(view, operation, rollout)
    if (held) return held
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

/** The node stays as it is until its gates hold and its hooks ended. Once it takes pods again they have: none is asked twice. */
function passChecks(view: NodeView, operation: Operation, rollout: Rollout): NodeAction | undefined {
  const isBack = operation.disruption === 'Drain' && rollout.cordon?.prior === 'Schedulable' && !isOurCordon(view.node)
  return isBack ? undefined : (passGates(view, operation, rollout) ?? hooksAfter(view, operation, rollout))
}

function passGates(view: NodeView, operation: Operation, rollout: Rollout): NodeAction | undefined {
  if (!operation.gates?.some(({ when }) => when === 'AfterNode')) return undefined
  if (!view.gates) return { action: 'askGates' }
  if (view.gates.state === 'passed') return undefined
  const { reason } = view.gates
  if (view.gates.state === 'failed') return enter(view, rollout, 'Failed', { reason })
  const told = rollout.phase === 'Verifying' && rollout.reason?.code === reason.code ? rollout.reason : undefined
  if (told?.message === reason.message) return { action: 'wait' }
  return enter(view, rollout, 'Verifying', { reason: { ...reason, since: told?.since }, unhurried: true })
}

/** Puts a node back whose operation is gone: nothing of it may run any more before the slot is returned. */
function releaseNode(view: NodeView, grant: Grant): NodeAction {
  const { state, node } = view
  const { order } = state.spec
  if (order && belongsTo(order, grant.holder) && !hasStopped(order, state)) return withdraw(order)
  const rollout = state.status?.rollout
  const ours = rollout?.operationID === grant.holder
  if (isOurCordon(node) && !(ours && rollout.cordon?.prior === 'Unschedulable')) return { action: 'uncordon' }
  const owed = cleanUp(view)
  if (owed) return owed
  if (ours && !atRest.has(rollout.phase)) return { action: 'clear' }
  return { action: 'returnGrant' }
}

/** Asks the agent to stop, once; then its word is waited for. */
function withdraw(order: Order): NodeAction {
  return order.desired === 'Run' ? { action: 'setOrder', order: { ...order, desired: 'Withdraw' } } : { action: 'wait' }
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

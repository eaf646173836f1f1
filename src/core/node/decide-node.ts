// One node's life: what to do next with a node, from what the API says alone. Level-based: every call looks at everything,
// so that a crash between any two writes is healed by the next look.

import type { Grant } from '../../api/maintenance-policy.ts'
import type { AgentOrder, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { firstReason } from '../drain/in-good-order.ts'
import { parseDuration } from '../duration.ts'
import type { Operation } from '../update/operation.ts'
import { isRetryDue, retryMark } from '../update/retry.ts'
import { cancelNode } from './cancel-node.ts'
import { leaveAtWork } from './drain-needed.ts'
import { drainNode, isAborted } from './drain-node.ts'
import { enter, watchDeadline } from './enter-phase.ts'
import { type SickSpot, sickness } from './health.ts'
import { leaveUndrained } from './leave-undrained.ts'
import { isBeingDeleted, mayRunUntold } from './lost-record.ts'
import { isCordoned, isReady, readyCondition } from './node-facts.ts'
import { cleanUp, hooksAfter, hooksAgain } from './node-hooks.ts'
import { holdOf, isPutBack } from './node-marks.ts'
import type { NodeAction, NodeView } from './node-view.ts'
import { atRest, attemptOf, belongsTo, hasStopped, isStuck, operationOfOrder, orderID } from './order.ts'
import { stageNode } from './stage-node.ts'
import { startNode } from './start-node.ts'
import { endOrder, withdraw } from './withdraw.ts'

/** What cannot be looked at may be so for another reason by then. */
const unknownAgainMs = 15_000
/** Nothing has been done to the node yet. */
const beforeWork: ReadonlySet<Rollout['phase']> = new Set(['Staging', 'Pending'])

export function decideNode(view: NodeView): NodeAction {
  const { grant, operation, state, node } = view
  const rollout = state.status?.rollout
  if (!grant) return withoutSlot(view)
  // The slot of an earlier machine of this name, which the ledger takes back: this one has none.
  if (grant.nodeUID !== node.metadata.uid) return { action: 'wait' }
  if (operation?.id !== grant.holder || isBeingDeleted(state)) return releaseNode(view, grant)
  const cancelled = cancelNode(view, operation)
  if (cancelled) return cancelled === 'release' ? releaseNode(view, grant) : cancelled
  const undone = leaveAtWork(view, operation)
  if (undone) return undone
  if (rollout?.operationID !== operation.id || beforeWork.has(rollout.phase)) return startNode(view, operation)
  if (isRetryDue(operation, node.metadata.name, rollout)) {
    // A person works on it: it is tried again when they let go of it.
    if (holdOf(node) !== undefined) return { action: 'wait' }
    // What could not be staged has staged by now: it was never drained.
    return rollout.cordon ? retryNode(view, operation, rollout) : startNode(view, operation)
  }
  switch (rollout.phase) {
    case 'Done':
      return mayLeave(view) ? (cleanUp(view) ?? { action: 'returnGrant' }) : { action: 'uncordon' }
    case 'Failed':
      return leaveFailed(view, operation, rollout)
    default:
      return workNode(view, operation, rollout)
  }
}

function withoutSlot(view: NodeView): NodeAction {
  const { state, node, staging } = view
  const rollout = state.status?.rollout
  const { order } = state.spec
  // Put back as it was, but not forgotten: the operation must not take it again by itself.
  if (rollout && isPutBack(node) && (isAborted(rollout) || isReleased(view))) {
    if (rollout.operationID !== staging?.id || isToStageAnew(view, staging, rollout))
      return { action: 'clear', ...(staging && { remembers: true }) }
    return isAborted(rollout) ? afterRest(view, staging, rollout) : { action: 'wait' }
  }
  // Released, and its agent has lost its last word since: nothing of the order goes on, and it costs nobody a slot again.
  if (order?.desired === 'Run' && rollout?.phase === 'Failed' && isPutBack(node) && isStuck(order, state))
    return withdraw(order)
  const isOver = !rollout || atRest.has(rollout.phase)
  // Tried again, and given back as it was found: a person had uncordoned it, and it is not fit to be begun.
  const isGivenBack = rollout?.phase === 'Pending' && !isCordoned(node)
  // Whatever was cordoned is under work: the ledger must know.
  if (rollout?.cordon && !isOver && !isGivenBack) return { action: 'regrant', holder: rollout.operationID }
  if (order && !hasStopped(order, state))
    return isStuck(order, state) ? withdraw(order) : { action: 'regrant', holder: operationOfOrder(order) }
  if (!isPutBack(node)) return mayRunUntold(state) ? { action: 'wait' } : { action: 'uncordon' }
  const owed = cleanUp(view)
  if (owed) return owed
  if (!isOver && (rollout.operationID !== staging?.id || rollout.phase === 'Pending'))
    return { action: 'clear', ...(staging && { remembers: true }) }
  if (staging) return stageNode(view, staging)
  return order?.desired === 'Stage' ? { action: 'dropOrder' } : { action: 'wait' }
}

/** A person asked for another attempt, of which nothing is staged: it begins as the first one did. */
function isToStageAnew({ state, node }: NodeView, operation: Operation, rollout: Rollout): boolean {
  const { order } = state.spec
  const isStaged = order?.desired === 'Stage' && belongsTo(order, operation.id)
  return !isStaged && isRetryDue(operation, node.metadata.name, rollout)
}

/** Nobody tells maintenance to try again: it does so by itself, after a rest as long as the drain was tried. */
function afterRest({ now }: NodeView, { kind, drain }: Operation, { since }: Rollout): NodeAction {
  if (kind !== 'Maintenance') return { action: 'wait' }
  const untilMs = Date.parse(since) + drain.timeoutMs
  return now.getTime() >= untilMs ? { action: 'clear' } : { action: 'wait', untilMs }
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
        return leaveToPerson(view, operation, rollout) ?? watchDeadline(view, rollout, orderLate(view, operation))
      }
      return enter(view, rollout, 'Working', { deadlineMs: parseDuration(operation.nodeTimeout) })
    }
    case 'Succeeded':
      return verifyNode(view, operation, rollout, report)
    case 'Failed':
      return enter(view, rollout, 'Failed', {
        reason: report.reason ?? { code: 'StepFailed', message: 'the agent gave no reason' },
      })
    case 'Withdrawn': {
      const next = { ...rollout, attempt: rollout.attempt + 1 }
      const again = { deadlineMs: operation.drain.timeoutMs, reason: firstReason(operation) }
      return leaveToPerson(view, operation, rollout) ?? enter(view, next, 'Draining', again)
    }
    case 'Refused':
    case 'RequiresAttention':
      if (rollout.phase === 'RequiresAttention') return leaveToPerson(view, operation, rollout) ?? { action: 'wait' }
      return enter(view, rollout, 'RequiresAttention', {
        reason: report.reason ?? { code: 'OrderRefused', message: 'the agent refused the order and gave no reason' },
      })
  }
}

function awaitAcceptance(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  if (rollout.phase === 'Assigned' || rollout.phase === 'RequiresAttention') {
    return leaveToPerson(view, operation, rollout) ?? watchDeadline(view, rollout, orderLate(view, operation))
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
    leaseUnknown: view.leaseUnknown,
    controllers: view.controllers,
    controllersUnknown: view.controllersUnknown,
    controlPlane: view.state.status?.agent?.controlPlane,
    othersServe: view.othersServe,
  })
  const unknown = verdict && unknownAt(view, verdict.look)
  if (verdict?.look === 'controllers' && view.controllers === undefined && !unknown)
    return { action: 'watchControllers' }
  if (verdict?.look === 'lease' && view.leaseRenewedAt === undefined && !unknown) return { action: 'watchLease' }
  if (!verdict) {
    const held = passChecks(view, operation, rollout)
    if (held) return held
    if (mayLeave(view)) return enter(view, rollout, 'Done', { finished: true })
    // It calls for nobody any more before we put it back: nothing on the node tells our hand from a person's.
    return rollout.phase === 'RequiresAttention'
      ? enter(view, rollout, 'Verifying', { deadlineMs: parseDuration(operation.nodeTimeout) })
      : { action: 'uncordon' }
  }
  // One that waited for its gates or hooks had no deadline: it falls ill only now.
  const isWatched = rollout.phase === 'Verifying' && rollout.deadline !== undefined
  if (isWatched || rollout.phase === 'RequiresAttention') {
    const waiting = leaveToPerson(view, operation, rollout) ?? watchDeadline(view, rollout, verdict.reason)
    if (waiting.action !== 'wait' || !isWatched) return waiting
    if (!isTold(rollout.reason, verdict.reason)) return tellAnew(view, rollout, verdict.reason)
    if (!unknown) return waiting
    const { untilMs: lateMs = Number.POSITIVE_INFINITY } = waiting
    return { action: 'wait', untilMs: Math.min(lateMs, view.now.getTime() + unknownAgainMs) }
  }
  return enter(view, rollout, 'Verifying', {
    deadlineMs: parseDuration(operation.nodeTimeout),
    reason: verdict.reason,
    unhurried: true,
  })
}

/** Why it cannot be seen what is to be looked at there. */
function unknownAt({ leaseUnknown, controllersUnknown }: NodeView, look: SickSpot): string | undefined {
  if (look === 'node') return undefined
  return look === 'lease' ? leaseUnknown : controllersUnknown
}

/** A kubelet says anew every few seconds how long it has not been well: that is no news. */
function isTold(told: Reason | undefined, { code, message }: Reason): boolean {
  const plain = (text: string) => text.replace(/\d+/g, '#')
  return told?.code === code && plain(told.message) === plain(message)
}

/**
 * What is missing by now has another way out than what was told, above all where that was that we cannot look. It has been waited for
 * since the first of them.
 */
function tellAnew({ now }: NodeView, rollout: Rollout, reason: Reason): NodeAction {
  const since = rollout.reason?.code === reason.code ? rollout.reason.since : undefined
  const told = { ...reason, since: since ?? now.toISOString() }
  return { action: 'setRollout', unhurried: true, rollout: { ...rollout, reason: told } }
}

/** The node stays as it is until its gates hold and its hooks ended. Once it takes pods again they have: none is asked twice. */
function passChecks(view: NodeView, operation: Operation, rollout: Rollout): NodeAction | undefined {
  const isBack = operation.disruption === 'Drain' && isPutBack(view.node)
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
  if (mayRunUntold(state)) return { action: 'wait' }
  const rollout = state.status?.rollout
  const ours = rollout?.operationID === grant.holder
  if (!isPutBack(node)) return { action: 'uncordon' }
  const owed = cleanUp(view)
  if (owed) return owed
  if (ours && !atRest.has(rollout.phase)) return { action: 'clear' }
  return { action: 'returnGrant' }
}

/** Another attempt, after nothing of the last one can start any more; the node stays cordoned meanwhile. */
function retryNode(view: NodeView, operation: Operation, rollout: Rollout): NodeAction {
  const { order } = view.state.spec
  const isOurs = order !== undefined && belongsTo(order, operation.id)
  if (isOurs && !hasStopped(order, view.state)) return withdraw(order)
  const attempt = Math.max(rollout.attempt, isOurs ? attemptOf(order) : 0) + 1
  const { retried: _retried, ...before } = rollout
  const hasFailed = rollout.phase === 'Failed'
  const failure = hasFailed && !isAborted(rollout) ? rollout.reason : undefined
  const again = { ...before, ...retryMark(operation), attempt, ...(failure && { failure }) }
  // What was cleaned up when it failed is done again first, and what was answered then is asked again.
  const anew = hasFailed ? hooksAgain(view) : undefined
  if (anew) return anew
  if (hasFailed && operation.hooks?.some(({ when }) => when === 'BeforeNode')) return enter(view, again, 'Pending')
  return enter(view, again, 'Draining', { deadlineMs: operation.drain.timeoutMs, reason: firstReason(operation) })
}

function orderLate({ node }: NodeView, { nodeTimeout }: Operation): Reason {
  const { name } = node.metadata
  const seen = isReady(node)
    ? `look at its log on ${name}`
    : `${name} is not Ready (${readyCondition(node)?.message ?? 'no condition'}): look at the machine`
  const message = `the agent has not finished within nodeTimeout (${nodeTimeout}); ${seen}, nothing is assumed`
  return { code: 'OrderTimedOut', message: message.slice(0, 4000) }
}

/** What failed stays cordoned for a person to look at, unless no work began or that person has put the node back. */
function leaveFailed(view: NodeView, { disruption }: Operation, rollout: Rollout): NodeAction {
  if (isAborted(rollout) && !isPutBack(view.node)) return { action: 'uncordon' }
  const owed = cleanUp(view)
  if (owed || disruption === 'None') return owed ?? leaveUndrained(view, rollout)
  // Put back by us after a drain that was given up, by a person who says that it is fit, or never touched since a hook refused it.
  return isPutBack(view.node) ? (endOrder(view.state) ?? { action: 'returnGrant' }) : { action: 'wait' }
}

/** It called for a person, and one has put the node back: all else goes on without it, and nothing goes on there. */
function leaveToPerson(view: NodeView, { disruption }: Operation, rollout: Rollout): NodeAction | undefined {
  const { reason, phase } = rollout
  if (phase !== 'RequiresAttention' || disruption !== 'Drain' || !isPutBack(view.node)) return undefined
  return endOrder(view.state) ?? enter(view, rollout, 'Failed', reason && { reason })
}

/** It failed, and a person has put the node back: it is theirs to say that it is fit. */
function isReleased({ node, state }: NodeView): boolean {
  const { phase, cordon } = state.status?.rollout ?? {}
  const { order } = state.spec
  return phase === 'Failed' && cordon !== undefined && isPutBack(node) && (!order || hasStopped(order, state))
}

/** Nothing of ours is left on the node, or the next operation takes it over as it is: one drain for both. */
function mayLeave({ node, successor }: NodeView): boolean {
  return isPutBack(node) || successor
}

// How a node's rollout goes from one phase to the next, and what is done while it stays in one.

import type { Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { isBroken, retryMark } from '../update/retry.ts'
import type { NodeAction, NodeView } from './node-view.ts'

export function enter(
  { now, operation }: NodeView,
  rollout: Rollout,
  phase: Rollout['phase'],
  detail: {
    readonly deadlineMs?: number
    readonly reason?: Reason
    readonly finished?: boolean
    readonly unhurried?: true
  } = {},
): NodeAction {
  const { deadline: _deadline, reason: _reason, drain: _drain, failure, ...before } = rollout
  const kept = phase === 'Failed' || phase === 'Done' ? before : { ...before, ...(failure && { failure }) }
  const at = now.toISOString()
  return {
    action: 'setRollout',
    ...(detail.unhurried && { unhurried: true }),
    rollout: {
      ...kept,
      ...(operation && isBroken(phase) && retryMark(operation)),
      phase,
      since: at,
      ...(detail.deadlineMs !== undefined && { deadline: new Date(now.getTime() + detail.deadlineMs).toISOString() }),
      ...(detail.reason && { reason: { ...detail.reason, since: detail.reason.since ?? at } }),
      ...(detail.finished && { finishedAt: at }),
    },
  }
}

/** Waits for the deadline; once it is past, asks for a person. Time alone never frees a slot. */
export function watchDeadline(view: NodeView, rollout: Rollout, late?: Reason): NodeAction {
  if (!rollout.deadline || rollout.phase === 'RequiresAttention') return { action: 'wait' }
  if (!isPast(rollout.deadline, view)) {
    return { action: 'wait', untilMs: Math.max(Date.parse(rollout.deadline), view.graceUntil.getTime()) }
  }
  return late ? enter(view, rollout, 'RequiresAttention', { reason: late }) : { action: 'wait' }
}

export function isPast(deadline: string | undefined, { now, graceUntil }: NodeView): boolean {
  return deadline !== undefined && now.getTime() >= Math.max(Date.parse(deadline), graceUntil.getTime())
}

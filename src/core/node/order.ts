// Work orders: how they are made, whose they are, and when nothing more of one can start.

import type { AgentOrder, NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Work } from '../../api/work.ts'
import { equalJson } from '../merge-patch.ts'
import { rollOutOf } from '../profile/operation-id.ts'
import { type Operation, ownerOfOperation } from '../update/operation.ts'
import { roleOf } from './node-facts.ts'
import type { NodeView } from './node-view.ts'

const brokenWords = new Set<AgentOrder['state']>(['Failed', 'RequiresAttention'])
const lastWords = new Set<AgentOrder['state']>(['Succeeded', 'Failed', 'Withdrawn', 'Refused'])

/** Phases in which nothing of the rollout is under way. */
export const atRest: ReadonlySet<Rollout['phase']> = new Set(['Done'])

/** The agent's last word on the order, where it has given one. */
export function lastWord(order: Order, state: NodeState): AgentOrder | undefined {
  const report = state.status?.agent?.order
  return report?.id === order.id && lastWords.has(report.state) ? report : undefined
}

/** Why a node that is tried again is not fit meanwhile: what it failed for, in its work or at a gate or a hook after it. */
export function earlierFailure(state: NodeState, { id }: Operation): Reason | undefined {
  const { order } = state.spec
  const { rollout } = state.status ?? {}
  if (rollout?.operationID === id && rollout.failure) return rollout.failure
  return order && belongsTo(order, id) ? failureOf(order, state) : undefined
}

/** Why a node is not fit after this order: it failed, or the agent wants a person; what it has done so far is not undone. */
function failureOf(order: Order, state: NodeState): Reason | undefined {
  const report = state.status?.agent?.order
  if (order.desired === 'Stage' || report?.id !== order.id || !brokenWords.has(report.state)) return undefined
  return report.reason ?? { code: 'StepFailed', message: 'the agent gave no reason' }
}

/** Nothing of it runs or will run without another word of ours. */
export function hasStopped(order: Order, state: NodeState): boolean {
  if (order.desired === 'Stage' || lastWord(order, state) !== undefined) return true
  return order.desired === 'Withdraw' && isStuck(order, state)
}

/** Something on the host keeps the agent from going on. Once that is repaired it does, unless it then finds the order withdrawn. */
export function isStuck(order: Order, state: NodeState): boolean {
  const report = state.status?.agent?.order
  return report?.id === order.id && report.state === 'RequiresAttention'
}

export function orderID(operation: Operation, attempt: number): string {
  return `${operation.id}/${attempt}`
}

export function belongsTo(order: Order, operationID: string): boolean {
  return operationOfOrder(order) === operationID
}

/**
 * Staged for other work than is asked for by now. An agent takes no order of a name it knows with other work, so this is another
 * attempt. Only maintenance: what windows let it do changes while it waits.
 */
export function isOutdated({ kind, desired, work }: Order, asked: Work): boolean {
  return kind === 'Maintenance' && desired === 'Stage' && !equalJson(work, asked)
}

export function operationOfOrder({ id }: Order): string {
  return id.slice(0, id.lastIndexOf('/'))
}

export function attemptOf({ id }: Order): number {
  return Number(id.slice(id.lastIndexOf('/') + 1)) || 1
}

/** The first that no agent has heard of. */
export function nextAttempt(state: NodeState, { id }: Operation): number {
  return (pastFailure(state, id)?.attempt ?? 0) + 1
}

export function makeOrder({ node, state, epoch, work }: NodeView, operation: Operation, attempt: number): Order {
  const role = roleOf(node)
  const bootID = operation.kind === 'Maintenance' && work.reboot ? state.status?.agent?.bootID : undefined
  return {
    id: orderID(operation, attempt),
    ...(operation.kind && { kind: operation.kind }),
    update: operation.update,
    nodeUID: node.metadata.uid,
    epoch,
    role,
    // A control-plane node's own work may take the API away; everybody else waits for a fresh word.
    offline: role === 'ControlPlane' ? 'Allowed' : 'Refused',
    desired: 'Run',
    ...(bootID !== undefined && { bootID }),
    rollback: operation.rollback,
    timeout: operation.orderTimeout ?? operation.nodeTimeout,
    work,
  }
}

export type PastFailure = NonNullable<NonNullable<NodeState['status']>['failed']>[number]

/** Why the node failed for an operation whose rollout has made room for another's. */
export function pastFailure(state: NodeState | undefined, operationID: string): PastFailure | undefined {
  return state?.status?.failed?.find((one) => one.operationID === operationID)
}

/** What the node failed for, when its rollout is about to become another's; maintenance is tried again by itself. */
export function failedBefore({ status }: NodeState, next?: string): readonly PastFailure[] {
  const { rollout, failed = [] } = status ?? {}
  const isNext = ({ operationID }: Pick<Rollout, 'operationID'>) =>
    next !== undefined && rollOutOf(operationID) === rollOutOf(next)
  const others = failed.filter((one) => !isNext(one) && one.operationID !== rollout?.operationID)
  if (!rollout || isNext(rollout) || rollout.kind === 'Maintenance') return others
  const { operationID, phase, attempt, retried, reason } = rollout
  if (phase !== 'Failed' && phase !== 'RequiresAttention') return others
  const failure = { operationID, phase, attempt, ...(retried !== undefined && { retried }), ...(reason && { reason }) }
  return remembered([failure, ...others], (one) => one.operationID)
}

/** What the node is done for, when its rollout is about to become another's. */
export function completedBefore({ status }: NodeState): string[] {
  const before = status?.rollout
  if (!before || !atRest.has(before.phase)) return []
  return remembered([before.operationID, ...(status?.completed ?? [])], (id) => id)
}

const atMost = 20

/**
 * The newest first, and one less where they are too many. Maintenance and profiles of a node come and go while an update may wait
 * for weeks: it is forgotten last, since it would take the node again.
 */
function remembered<T>(entries: readonly T[], idOf: (entry: T) => string): T[] {
  if (entries.length <= atMost) return [...entries]
  const isPassing = (entry: T) => ownerOfOperation(idOf(entry)).includes(':')
  const oldest = entries.findLastIndex((entry, index) => index > 0 && isPassing(entry))
  return entries.toSpliced(oldest, 1)
}

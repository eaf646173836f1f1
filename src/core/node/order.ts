// Work orders: how they are made, whose they are, and when nothing more of one can start.

import type { AgentOrder, NodeState, Order, Rollout } from '../../api/node-state.ts'
import type { Operation } from '../update/operation.ts'
import { roleOf } from './node-facts.ts'
import type { NodeView } from './node-view.ts'

const lastWords = new Set<AgentOrder['state']>(['Succeeded', 'Failed', 'Withdrawn', 'Refused'])

/** Phases in which nothing of the rollout is under way. */
export const atRest: ReadonlySet<Rollout['phase']> = new Set(['Done'])

/** The agent's last word on the order, where it has given one. */
export function lastWord(order: Order, state: NodeState): AgentOrder | undefined {
  const report = state.status?.agent?.order
  return report?.id === order.id && lastWords.has(report.state) ? report : undefined
}

/** Nothing of it runs or will run without another word of ours. */
export function hasStopped(order: Order, state: NodeState): boolean {
  if (order.desired === 'Stage') return true
  const report = state.status?.agent?.order
  return lastWord(order, state) !== undefined || (report?.id === order.id && report.state === 'RequiresAttention')
}

export function orderID(operation: Operation, attempt: number): string {
  return `${operation.id}/${attempt}`
}

export function belongsTo(order: Order, operationID: string): boolean {
  return operationOfOrder(order) === operationID
}

export function operationOfOrder({ id }: Order): string {
  return id.slice(0, id.lastIndexOf('/'))
}

export function attemptOf({ id }: Order): number {
  return Number(id.slice(id.lastIndexOf('/') + 1)) || 1
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

/** What the node is done for, when its rollout is about to become another's. */
export function completedBefore({ status }: NodeState): string[] {
  const before = status?.rollout
  if (!before || !atRest.has(before.phase)) return []
  return [before.operationID, ...(status?.completed ?? [])].slice(0, 20)
}

// Nodes whose record somebody deleted: what they are about is with their agents alone.

import type { AgentOrder, NodeState } from '../../api/node-state.ts'
import { isBroken } from '../update/retry.ts'
import { atRest } from './order.ts'

const underWay = new Set<AgentOrder['state']>(['Accepted', 'Running'])

/** A record that was made anew names no order. One may be under way all the same, until its agent has said what it does. */
export function mayRunUntold({ spec, status }: NodeState): boolean {
  if (spec.order) return false
  const { agent } = status ?? {}
  return !agent || (agent.order !== undefined && underWay.has(agent.order.state))
}

/** Its agent obeys it no more, and what hooks still owe keeps it: the node is put back, and begins anew with another record. */
export function isBeingDeleted({ metadata, status }: NodeState): boolean {
  const phase = status?.rollout?.phase
  if (metadata.deletionTimestamp === undefined) return false
  return phase === undefined || !(atRest.has(phase) || isBroken(phase))
}

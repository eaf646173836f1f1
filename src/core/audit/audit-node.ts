// What the audit record says of one node: when it was taken and given back, what its agent was told and answered.

import { type NodeState, nodeStates, type Rollout } from '../../api/node-state.ts'
import type { AuditLine } from './audit-update.ts'

const forced: ReadonlySet<string> = new Set(['PodForced', 'PodRemoved'])

export function auditNode(before: NodeState | undefined, after: NodeState): readonly AuditLine[] {
  const { name, uid } = after.metadata
  const about = { kind: nodeStates.kind, name, uid, node: name }
  return [
    ...rolloutLines(before?.status?.rollout, after.status?.rollout),
    ...orderLines(before, after),
    ...forcedLines(before?.status?.rollout, after.status?.rollout),
  ].map((line) => ({ ...about, ...line }))
}

type Said = Pick<AuditLine, 'action'> & Partial<AuditLine>

const own = { by: 'slipway-operator', bySource: 'operator' } as const

function rolloutLines(before: Rollout | undefined, after: Rollout | undefined): readonly Said[] {
  if (before?.phase === after?.phase && before?.operationID === after?.operationID) return []
  const { update, operationID, reason } = after ?? before ?? {}
  return [
    {
      action: 'NodePhase',
      ...own,
      ...(update !== undefined && { update }),
      ...(operationID !== undefined && { operation: operationID }),
      ...(before && { from: before.phase }),
      to: after?.phase ?? 'None',
      ...(after && reason && { code: reason.code, message: reason.message }),
    },
  ]
}

/** What it was told, and what it said of it. */
function orderLines(before: NodeState | undefined, after: NodeState): readonly Said[] {
  const lines: Said[] = []
  const { order } = after.spec
  const was = before?.spec.order
  if (order && (was?.id !== order.id || was.desired !== order.desired)) {
    lines.push({ action: 'Order', ...own, update: order.update, operation: order.id, to: order.desired })
  }
  const answer = after.status?.agent?.order
  const earlier = before?.status?.agent?.order
  if (answer && (earlier?.id !== answer.id || earlier.state !== answer.state)) {
    const { reason, id, state } = answer
    lines.push({
      ...{ action: 'Order', by: 'slipway-agent', bySource: 'agent', operation: id, to: state },
      ...(order && { update: order.update }),
      ...(reason && { code: reason.code, message: reason.message }),
    })
  }
  return lines
}

function forcedLines(before: Rollout | undefined, after: Rollout | undefined): readonly Said[] {
  const known = new Set((before?.drain?.pods ?? []).map(({ pod, reason }) => `${pod} ${reason.code}`))
  return (after?.drain?.pods ?? [])
    .filter(({ pod, reason }) => forced.has(reason.code) && !known.has(`${pod} ${reason.code}`))
    .map(({ pod, reason }) => ({
      ...{ action: 'PodForced', ...own, code: reason.code, message: `${pod}: ${reason.message}` },
      ...(after && { update: after.update, operation: after.operationID }),
    }))
}

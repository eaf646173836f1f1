// When a node is healthy again: its kubelet reports the target version, Ready with a heartbeat after the restart the agent
// reported, and its Lease renewed since. All three instants are the node's own clock, so skew between machines cannot lie.

import type { Node } from '../../api/kube.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { isReady, readyCondition } from './node-facts.ts'

export interface HealthView {
  readonly target: string | undefined
  readonly report: AgentOrder
  readonly leaseRenewedAt: string | undefined
}

/** What is still missing, and where to look for it; undefined when the node is healthy. */
export function sickness(
  node: Node,
  { target, report, leaseRenewedAt }: HealthView,
): { readonly reason: Reason; readonly look: 'node' | 'lease' } | undefined {
  const { name } = node.metadata
  const missing = (message: string, look: 'node' | 'lease' = 'node') => ({
    reason: { code: 'WaitingForHealth' as const, message },
    look,
  })
  if (!isReady(node)) return missing(`${name} is not Ready: ${readyCondition(node)?.message ?? 'no condition'}`)
  const version = node.status?.nodeInfo?.kubeletVersion
  if (target && version !== withV(target)) return missing(`the kubelet on ${name} reports ${version}, not ${target}`)
  const restarted = report.kubeletRestartedAt
  if (restarted === undefined) return undefined
  const heartbeat = readyCondition(node)?.lastHeartbeatTime
  // Heartbeats carry whole seconds.
  const since = Math.floor(Date.parse(restarted) / 1000) * 1000
  if (!heartbeat || Date.parse(heartbeat) < since) {
    return missing(`no heartbeat from ${name} since its kubelet was restarted at ${restarted}`)
  }
  if (!leaseRenewedAt || Date.parse(leaseRenewedAt) < since) {
    return missing(`the Lease of ${name} was not renewed since its kubelet was restarted at ${restarted}`, 'lease')
  }
  return undefined
}

function withV(version: string): string {
  return version.startsWith('v') ? version : `v${version}`
}

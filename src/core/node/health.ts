// When a node is healthy again: its kubelet reports the target version, Ready with a heartbeat after the restart the agent
// reported, and its Lease renewed since. All three instants are the node's own clock, so skew between machines cannot lie.
// A control-plane node takes the cluster's controllers with it: until they lead again nobody notices that a pod is gone, and
// services go on sending to it. So they must be at work again before the next node is drained.

import type { Node } from '../../api/kube.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { isReady, readyCondition, roleOf } from './node-facts.ts'
import type { Controllers } from './node-view.ts'

export interface HealthView {
  readonly target: string | undefined
  readonly report: AgentOrder
  readonly leaseRenewedAt: string | undefined
  readonly controllers: Controllers | undefined
}

/** What controllers need after their election to see the cluster as it is. */
const settleMs = 5_000

type Where = 'node' | 'lease' | 'controllers'

/** What is still missing, and where to look for it; undefined when the node is healthy. */
export function sickness(
  node: Node,
  { target, report, leaseRenewedAt, controllers }: HealthView,
): { readonly reason: Reason; readonly look: Where } | undefined {
  const { name } = node.metadata
  const missing = (message: string, look: Where = 'node') => ({
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
  // The agent has waited for the static pods to settle: who leads now, goes on leading.
  const settled = Math.max(since, Date.parse(report.finishedAt ?? restarted))
  if (roleOf(node) === 'ControlPlane' && !areAtWork(controllers, settled)) {
    const message = `the kube-controller-manager has not led long enough since ${name} was restarted at ${restarted}`
    return missing(message, 'controllers')
  }
  return undefined
}

function areAtWork(controllers: Controllers | undefined, since: number): boolean {
  if (!controllers) return false
  if (controllers.lease === 'none') return true
  const renewed = Date.parse(controllers.renewedAt)
  const acquired = Date.parse(controllers.acquiredAt)
  return renewed >= since && (acquired < since || renewed >= acquired + settleMs)
}

function withV(version: string): string {
  return version.startsWith('v') ? version : `v${version}`
}

// When a node is healthy again: its kubelet reports the target version, Ready with a heartbeat after the restart the agent
// reported, and its Lease renewed since. All three instants are the node's own clock, so skew between machines cannot lie.
// A control-plane node takes the cluster's controllers with it: until they lead again nobody notices that a pod is gone, and
// services go on sending to it. So they must be at work again before the next node is drained. And its API server must be ready
// and its member of etcd back, as a look after the work has shown.

import type { ControlPlaneReport, EtcdReport } from '../../api/control-plane.ts'
import type { Node } from '../../api/kube.ts'
import type { AgentOrder } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { lacksServer } from '../control-plane/may-leave.ts'
import { isReady, readyCondition, roleOf } from './node-facts.ts'
import type { Controllers } from './node-view.ts'

export interface HealthView {
  readonly target: string | undefined
  readonly report: AgentOrder
  readonly leaseRenewedAt: string | undefined
  /** Why that is not known though it was looked at; of the controllers, too. */
  readonly leaseUnknown?: string | undefined
  readonly controllersUnknown?: string | undefined
  readonly controllers: Controllers | undefined
  /** What the node's agent says of its API server and of etcd. */
  readonly controlPlane: ControlPlaneReport | undefined
  /** Another control-plane node tells of its API server: so this one must have one, too. */
  readonly othersServe: boolean
}

/** What controllers need after their election to see the cluster as it is. */
const settleMs = 5_000

/** Where to look for what is missing. */
export type SickSpot = 'node' | 'lease' | 'controllers'

type Sickness = { readonly reason: Reason; readonly look: SickSpot } | undefined

/** What is still missing, and where to look for it; undefined when the node is healthy. */
export function sickness(node: Node, view: HealthView): Sickness {
  const found = sicknessOfNode(node, view)
  if (found || roleOf(node) !== 'ControlPlane') return found
  const message = missingInControlPlane(node.metadata.name, view)
  return message === undefined ? undefined : missing(message)
}

function missing(message: string, look: SickSpot = 'node'): Sickness {
  return { reason: { code: 'WaitingForHealth', message: message.slice(0, 4000) }, look }
}

function sicknessOfNode(node: Node, view: HealthView): Sickness {
  const { target, report, leaseRenewedAt, leaseUnknown, controllers, controllersUnknown } = view
  const { name } = node.metadata
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
    const message = `the Lease of ${name} was not renewed since its kubelet was restarted at ${restarted}`
    return missing(leaseUnknown ?? message, 'lease')
  }
  // The agent has waited for the static pods to settle: who leads now, goes on leading.
  const settled = Math.max(since, Date.parse(report.finishedAt ?? restarted))
  if (roleOf(node) === 'ControlPlane' && !areAtWork(controllers, settled)) {
    const message = `the kube-controller-manager has not led long enough since ${name} was restarted at ${restarted}`
    return missing(controllersUnknown ?? message, 'controllers')
  }
  return undefined
}

/** The order is named, not the time: a host's clock may be set meanwhile. */
function missingInControlPlane(name: string, { report, controlPlane, othersServe }: HealthView): string | undefined {
  if (controlPlane?.after !== report.id) return `${name} has not looked at its API server and etcd since the work`
  const { apiServer, etcd } = controlPlane
  const missed = missingInEtcd(name, etcd)
  if (missed !== undefined) return missed
  if (!apiServer) return othersServe ? `${lacksServer(name)}, as others have` : undefined
  return apiServer.ready === false ? `the API server of ${name} is not ready: ${apiServer.problem ?? ''}` : undefined
}

/** Where nothing tells of an etcd none can be missed; one elsewhere is not this node's. */
function missingInEtcd(name: string, { place, reason, member, members }: EtcdReport): string | undefined {
  if (place !== 'Local') return undefined
  if (reason) return `${name}: ${reason.message}`
  const own = members.find(({ id }) => id === member)
  if (!own) return `etcd does not count ${name} among its members`
  if (own.learner) return `the member of etcd on ${name} is a learner`
  return own.healthy ? undefined : `the member of etcd on ${name} is not healthy: ${own.problem ?? ''}`
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

// What a restarted kubelet tells the API, for a node whose heartbeats somebody else sends (kwok): once, and no more than that.

import { leases, type Node, nodes } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { microTime } from '../../kube/micro-time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { pause } from './pause.ts'

export interface RestartedKubelet {
  readonly api: KubeApi
  readonly clock: Clock
  readonly nodeName: string
  readonly version: string
  readonly bootId: string
}

const againMs = 1000

/** Tries until it is told, the Node is gone, or asked to stop; true when it was told. */
export async function tellKubeletRestart(kubelet: RestartedKubelet, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await postStatus(kubelet, signal)
      await renewLease(kubelet, signal)
      return true
    } catch (error) {
      if (signal.aborted || isKubeError(error, 'NotFound')) return false
      if (!isKubeError(error)) throw error
      // Somebody else wrote meanwhile: look again at once.
      if (!isKubeError(error, 'Conflict', 'AlreadyExists')) await pause(kubelet.clock, againMs, signal)
    }
  }
  return false
}

async function postStatus({ api, clock, nodeName, version, bootId }: RestartedKubelet, signal: AbortSignal) {
  const node = await api.get(nodes, { name: nodeName }, signal)
  const { uid, resourceVersion } = node.metadata
  const conditions = withHeartbeat(node, clock.now().toISOString())
  const status = { nodeInfo: { kubeletVersion: version, bootID: bootId }, ...(conditions && { conditions }) }
  // The conditions are one list, and others write theirs into it: hence the resourceVersion.
  const body = { metadata: { uid, resourceVersion }, status }
  await api.patch(nodes, { name: nodeName }, { type: 'merge', body }, signal, 'status')
}

/** A node that never was Ready does not become so by this: that is for those who animate it. */
function withHeartbeat({ status }: Node, now: string): NonNullable<Node['status']>['conditions'] {
  return status?.conditions?.map((condition) =>
    condition.type === 'Ready' ? { ...condition, lastHeartbeatTime: now } : condition,
  )
}

/** Made where there is none, as a kubelet would: without it nobody could tell that the node lives again. */
async function renewLease({ api, clock, nodeName }: RestartedKubelet, signal: AbortSignal): Promise<void> {
  const ref = { name: nodeName, namespace: 'kube-node-lease' }
  const renewTime = microTime(clock.now())
  try {
    await api.patch(leases, ref, { type: 'merge', body: { spec: { renewTime } } }, signal)
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error
    const spec = { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime }
    await api.create(leases, { metadata: ref, spec }, signal)
  }
}

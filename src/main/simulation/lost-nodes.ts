// Nodes that were away when the snapshot was taken. Nobody judges nodes by their leases in a rehearsal, so what the cluster would
// do to the pods there is done here: when they have been away for as long as a pod tolerates it, the pod is told to go.

import { type Node, type Pod, pods } from '../../api/kube.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { isReady } from '../../core/node/node-facts.ts'
import { tolerates } from '../../sim/actors/tolerations.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'

/** What pods tolerate where they say nothing of it. */
const defaultPatienceMs = 300_000
const away = [
  { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
] as const

export function giveUpLostNodes(cluster: SimCluster, snapshot: ClusterSnapshot): void {
  const lost = new Map(snapshot.nodes.filter((node) => !isReady(node)).map((node) => [node.metadata.name, node]))
  for (const pod of snapshot.pods) {
    const node = lost.get(pod.spec.nodeName ?? '')
    const patienceMs = node && patienceOf(pod, node)
    if (!node || patienceMs === undefined || pod.metadata.deletionTimestamp !== undefined) continue
    const delayMs = awaySinceMs(node) + patienceMs - Date.parse(snapshot.takenAt)
    cluster.clock.after(delayMs, () => tellToGo(cluster, pod))
  }
}

/** Undefined = for ever. */
function patienceOf({ spec }: Pod, node: Node): number | undefined {
  const taint = away.find(({ key }) => node.spec.taints?.some((one) => one.key === key)) ?? away[0]
  const match = spec.tolerations?.find((one) => tolerates(one, taint))
  if (!match) return defaultPatienceMs
  return match.tolerationSeconds === undefined ? undefined : match.tolerationSeconds * 1000
}

function awaySinceMs({ status, metadata }: Node): number {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return Date.parse(ready?.lastTransitionTime ?? metadata.creationTimestamp)
}

function tellToGo({ server }: SimCluster, { metadata }: Pod): void {
  const { name, namespace = '', uid } = metadata
  const now = server.peek(pods, { name, namespace })
  if (now?.metadata.uid !== uid || now.metadata.deletionTimestamp !== undefined) return
  server.delete('node-lifecycle', pods, { name, namespace }, {})
}

import { type Node, nodes } from '../../api/kube.ts'
import { annotationChange, taintChange, waitingTaint } from '../../core/maintenance/node-marks.ts'
import type { JsonPatchOperation, KubeApi } from '../../ports/kube-api.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { slimNode } from '../cluster/slim-node.ts'

export interface WantedMarks {
  /** Since when maintenance is asked for or under way. */
  readonly needed: string | undefined
  /** Whether it waits for its turn and new pods should go elsewhere. */
  readonly waits: boolean
}

/** Writes what differs, with a test of what was decided on. */
export async function markNode(
  api: KubeApi,
  cluster: Cluster,
  node: Node,
  { needed, waits }: WantedMarks,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid, resourceVersion } = node.metadata
  const annotations = annotationChange(node, needed)
  if (annotations) {
    const body = { metadata: { uid, resourceVersion, annotations } }
    cluster.nodes.learn(slimNode(await api.patch(nodes, { name }, { type: 'merge', body }, signal)))
    return
  }
  const change = taintChange(node, waits)
  if (!change) return
  const taint = { key: waitingTaint, effect: 'PreferNoSchedule' }
  const operations: readonly JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    change.taint === 'remove'
      ? { op: 'remove', path: `/spec/taints/${change.index}` }
      : change.first
        ? { op: 'add', path: '/spec/taints', value: [taint] }
        : { op: 'add', path: '/spec/taints/-', value: taint },
  ]
  cluster.nodes.learn(slimNode(await api.patch(nodes, { name }, { type: 'json', operations }, signal)))
}

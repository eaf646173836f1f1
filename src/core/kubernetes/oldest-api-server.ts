import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { compareVersions } from '../version.ts'

/** The oldest API server a worker's kubelet may talk to: rule 3's ceiling. One that nobody has reported is as old as its kubelet at least. */
export function oldestApiServer(
  controlPlane: Iterable<Node>,
  stateOf: (node: string) => NodeState | undefined,
  serverVersion: string,
): string {
  let oldest: string | undefined
  for (const node of controlPlane) {
    const version = stateOf(node.metadata.name)?.status?.agent?.facts.apiServer ?? node.status?.nodeInfo?.kubeletVersion
    if (version && (oldest === undefined || compareVersions(version, oldest) < 0)) oldest = version
  }
  return oldest ?? serverVersion
}

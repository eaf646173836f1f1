import type { Reason } from '../../api/reason.ts'
import { oldestApiServer } from '../../core/kubernetes/oldest-api-server.ts'
import { compareVersions } from '../../core/version.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ServerVersion } from '../server-version.ts'

/** Rule 3, looked at again before every worker, and every kubelet alone: an API server may have joined or lag since the plan. */
export function kubeletCeiling(
  { controlPlane, nodes, states }: Cluster,
  target: string,
  server: Pick<ServerVersion, 'version' | 'doubt'>,
): Reason | undefined {
  const members = [...controlPlane].flatMap((name) => nodes.get(name) ?? [])
  const oldest = oldestApiServer(members, (name) => states.get(name), server.version)
  if (compareVersions(target, oldest) <= 0) return undefined
  if (oldest === server.version) server.doubt()
  return {
    code: 'KubeletWouldBeNewer',
    message: `the oldest API server runs ${oldest}; a kubelet must not be newer (${target})`,
  }
}

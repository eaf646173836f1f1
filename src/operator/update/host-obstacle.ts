import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { CheckName } from '../../api/preflight.ts'
import type { Reason } from '../../api/reason.ts'
import { flagObstacle } from '../../core/preflight/kubelet-flags.ts'
import { firstLack } from '../../core/preflight/requirements.ts'
import type { Operation } from '../../core/update/operation.ts'
import { isBeyond } from '../../core/update/standing.ts'
import { parseVersion } from '../../core/version.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** What the target asks of a host, asked again of each before its turn: when the update was planned one that was away could not say. */
export function hostObstacle(
  { nodes, states, policy }: Pick<Cluster, 'nodes' | 'states' | 'policy'>,
  { preflight }: DirectUpdateSpec,
  { work }: Pick<Operation, 'work'>,
  name: string,
): Reason | undefined {
  const node = nodes.get(name)
  const target = work.kubernetes && parseVersion(work.kubernetes.version)
  if (!node || !target) return undefined
  const state = states.get(name)
  const agent = state?.status?.agent
  const counts = (check: CheckName) => !preflight?.skip?.includes(check)
  const refused = (check: CheckName, obstacle: string | undefined): Reason | undefined =>
    obstacle === undefined ? undefined : { code: 'PreflightFailed', message: `${check}: ${obstacle}` }
  const host = { node, agent, datastore: policy?.spec.datastore }
  if (counts('VersionPath') && isBeyond({ work }, node, state)) {
    const newer = `${name} runs a version newer than ${target.text}`
    return refused('VersionPath', `${newer}; Kubernetes cannot go back: skip the node`)
  }
  const lack = counts('TargetRequirements') ? refused('TargetRequirements', firstLack(host, target)) : undefined
  return lack ?? (counts('KubeletFlags') ? refused('KubeletFlags', flagObstacle(node, agent, target)) : undefined)
}

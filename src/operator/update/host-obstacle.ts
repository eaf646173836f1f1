import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import { firstLack } from '../../core/preflight/requirements.ts'
import type { Operation } from '../../core/update/operation.ts'
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
  if (!node || !target || preflight?.skip?.includes('TargetRequirements')) return undefined
  const host = { node, agent: states.get(name)?.status?.agent, datastore: policy?.spec.datastore }
  const lack = firstLack(host, target)
  return lack === undefined ? undefined : { code: 'PreflightFailed', message: `TargetRequirements: ${lack}` }
}

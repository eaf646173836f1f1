import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Preview } from '../../api/preview.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { resolveCount } from '../../core/count.ts'
import { previewOf } from '../../core/plan/preview.ts'
import { strategyOf } from '../../core/update/waves.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { RunningOperation, Slots } from './running-operation.ts'

/** What the planner can tell of an update from what the operator watches anyway. */
export function previewFor(
  { nodes, states, policy, takingPods }: Cluster,
  slots: Slots,
  { spec }: DirectUpdate,
  { table, operation }: RunningOperation,
  path: VersionPath | undefined,
): Preview {
  const whole = (policy?.spec.budgets ?? []).filter(({ per, nodeSelector }) => !per && !nodeSelector)
  const limits = whole.map(({ maxUnavailable }) => resolveCount(maxUnavailable, nodes.size))
  const strategy = strategyOf(spec.strategy)
  // Where all that take pods are to go, the ledger keeps one of them back.
  const isLastKept = takingPods.size > 1 && [...takingPods].every((name) => table.standing(name) === 'waiting')
  if (isLastKept) limits.push(takingPods.size - 1)
  return previewOf({
    nodes: [...nodes.values()].filter(({ metadata }) => table.standing(metadata.name) === 'waiting'),
    states: states.values(),
    work: operation.work,
    waves: strategy.waves,
    first: strategy.first,
    atOnce: Math.min(resolveCount(strategy.maxUnavailable, table.workers), ...limits),
    paused: policy?.spec.paused === true,
    heldBy: (node) => slots.holderOf(node),
    turns: { controlPlane: path?.steps?.length ?? 1, workers: path?.workers?.length ?? 1 },
  })
}

// Whether chance decides if pods under a budget find a node: then more rehearsals are worth their time.

import type { Pod } from '../../api/kube.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { type Drain, ruleFor } from '../drain/drain-policy.ts'
import { allowsNone } from './blocker.ts'
import { BudgetIndex } from './budget-index.ts'
import type { Itinerary } from './itinerary.ts'
import { RoomLeft } from './room-left.ts'

export interface TightView {
  readonly snapshot: Pick<ClusterSnapshot, 'nodes' | 'pods' | 'podDisruptionBudgets'>
  readonly itinerary: Itinerary
  readonly drain: Drain
}

export function isRoomTight({ snapshot, itinerary, drain }: TightView): boolean {
  if (drain.onTimeout === 'Force') return false
  const drained = new Set(itinerary.waves.flat())
  const room = new RoomLeft(snapshot.nodes, snapshot.pods, drained, itinerary.atOnce)
  const budgets = new BudgetIndex(snapshot.podDisruptionBudgets)
  // Of one that wants all of its pods it is certain that it is in the way.
  const keepsSiblings = (pod: Pod) =>
    budgets.of(pod).some((budget) => (budget.status?.expectedPods ?? 0) > 1 && !allowsNone(budget))
  return snapshot.pods.some(
    (pod) => ruleFor(pod, drain)?.action !== 'Force' && keepsSiblings(pod) && room.canBeLeftOut(pod),
  )
}

// Drift that a change puts right along with what it is about. What a change disturbs is judged from the change; what else is
// wrong on the host only its agent can see. It looks before it begins, and ends an order that would disturb a node at work.

import type { NodeState } from '../../api/node-state.ts'
import { equalJson } from '../merge-patch.ts'
import { isDrainOperation } from './operation-id.ts'

/**
 * Whether the node is to be drained for this desired state though the change disturbs nobody: its agent said so, or it is at it
 * with a drain already. `mayDisturb`: what an order would allow now; an answer to another question does not count.
 */
export function asksForDrain(
  { spec, status }: NodeState,
  sha256: string | undefined,
  mayDisturb: readonly string[],
): boolean {
  const { order } = spec
  const profile = order?.kind === 'NodeProfile' ? order.work.profile : undefined
  if (!order || !profile || profile.desired.sha256 !== sha256) return false
  if (isDrainOperation(order.id)) return true
  const report = status?.agent?.order
  const isAnswer = report?.id === order.id && report.reason?.code === 'DrainNeeded'
  return isAnswer && equalJson(profile.undrained?.mayDisturb, mayDisturb)
}

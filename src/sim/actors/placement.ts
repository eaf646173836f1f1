import type { Node, NodeRequirement, NodeSelectorTerm, Pod } from '../../api/kube.ts'
import { matchesRequirement } from '../server/selectors.ts'
import { toleratesAll } from './tolerations.ts'

/** What of the node itself keeps this pod off, in the words of the real scheduler. */
export function mismatch(pod: Pod, node: Node): string | undefined {
  if (!isWanted(pod, node)) return "didn't match Pod's node affinity/selector"
  return toleratesAll(pod.spec.tolerations, node.spec.taints) ? undefined : 'had untolerated taint(s)'
}

/** Whether the node is among those the pod names by selector and required affinity. */
export function isWanted({ spec }: Pick<Pod, 'spec'>, node: Node): boolean {
  const labels = node.metadata.labels
  for (const key in spec.nodeSelector) if (labels?.[key] !== spec.nodeSelector[key]) return false
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.some((term) => meets(term, node)) ?? true
}

/** A term that asks for nothing matches nothing. */
function meets({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => holds(one, metadata.labels?.[one.key])) &&
    matchFields.every((one) => one.key === 'metadata.name' && holds(one, metadata.name))
  )
}

function holds({ operator, values = [] }: NodeRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'Gt':
      return Number(value) > Number(values[0])
    case 'Lt':
      return Number(value) < Number(values[0])
    default:
      return matchesRequirement(value, operator, values)
  }
}

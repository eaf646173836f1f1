import type { Pod } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { type Answer, type Finding, reasonFinding } from './finding.ts'

/** What keeps a pod on a node under work, or that nothing does. */
export function podAnswer(pod: Pod, state: NodeState | undefined): Answer {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`
  return { kind: 'Pod', name, findings: podFindings(name, pod, state) }
}

function podFindings(name: string, pod: Pod, state: NodeState | undefined): readonly Finding[] {
  const { nodeName } = pod.spec
  if (nodeName === undefined)
    return [{ text: `it is on no node yet (${pod.status?.phase ?? 'Pending'}); Slipway has no part in that` }]
  const rollout = state?.status?.rollout
  if (rollout?.phase !== 'Draining') {
    const doing = rollout ? `: it is ${rollout.phase} for update ${rollout.update}` : ''
    return [{ text: `its node ${nodeName} is not being drained${doing}` }]
  }
  const held = rollout.drain?.pods.find((entry) => entry.pod === name)
  const draining: Finding = {
    text: `its node ${nodeName} is being drained for update ${rollout.update}`,
    since: rollout.since,
  }
  return held
    ? [draining, reasonFinding('it is still there', held.reason)]
    : [draining, { text: 'it does not hold the drain up: it stays as it is, or its turn comes' }]
}

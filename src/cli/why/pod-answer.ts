import type { Pod } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { rolloutOwner } from '../../core/update/work-owner.ts'
import { type Answer, type Finding, reasonFinding } from './finding.ts'

/** What keeps a pod on a node under work, or that nothing does. */
export function podAnswer(pod: Pod, state: NodeState | undefined, fate: Reason | undefined): Answer {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`
  return { kind: 'Pod', name, findings: podFindings(name, pod, state, fate) }
}

function podFindings(
  name: string,
  pod: Pod,
  state: NodeState | undefined,
  fate: Reason | undefined,
): readonly Finding[] {
  const { nodeName } = pod.spec
  if (nodeName === undefined) {
    const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const told = scheduled?.message === undefined ? '' : `; the scheduler says: ${scheduled.message}`
    return [{ text: `it is on no node yet (${pod.status?.phase ?? 'Pending'})${told}` }]
  }
  const rollout = state?.status?.rollout
  if (rollout?.phase !== 'Draining') {
    const doing = rollout ? `: it is ${rollout.phase} for ${rolloutOwner(rollout)}` : ''
    return [{ text: `its node ${nodeName} is not being drained${doing}` }]
  }
  const held = rollout.drain?.pods.find((entry) => entry.pod === name)
  const draining: Finding = {
    text: `its node ${nodeName} is being drained for ${rolloutOwner(rollout)}`,
    since: rollout.since,
  }
  return held
    ? [draining, reasonFinding('it is still there', held.reason)]
    : [draining, fate ? reasonFinding('it does not hold the drain up', fate) : { text: 'its turn comes' }]
}

import type { NodeProfile } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import { profileRunOf } from '../../core/profile/operation-id.ts'
import { type Answer, adviceFor, type Finding, reasonFinding } from './finding.ts'

/** How a profile stands, what holds it up, and where it failed. */
export function profileAnswer(profile: NodeProfile, states: readonly NodeState[]): Answer {
  const { metadata, spec, status } = profile
  const { name } = metadata
  const { total = 0, applied = 0, drifted = 0, failed = 0 } = status?.nodes ?? {}
  const counts = [`${applied}/${total} applied`, `${drifted} drifted`, `${failed} failed`].join(', ')
  const isRetried = failed > 0 && spec.rollout !== 'ByUpdate'
  const findings: Finding[] = [
    {
      text: `it is ${status?.phase ?? 'Pending'}: ${counts}`,
      ...(isRetried && {
        advice: `when the cause is gone: slipway retry --profile ${name}; each change of what it wants is another attempt, too`,
      }),
    },
  ]
  for (const { metadata: node, status: its } of states) {
    const failure = failureOf(name, its)
    if (failure?.reason) findings.push(reasonFinding(`${node.name} ${failure.phase}`, failure.reason))
  }
  const isTold = findings.length > 1
  for (const [type, holds] of [
    ['Accepted', 'False'],
    ['Applied', 'False'],
    ['Drifted', 'True'],
  ] as const) {
    const condition = status?.conditions?.find((one) => one.type === type && one.status === holds)
    // The nodes say it themselves.
    if (!condition || (type === 'Applied' && isTold)) continue
    const advice = adviceFor(condition.reason)
    const { message, reason: code, lastTransitionTime: since } = condition
    findings.push({ text: message, code, since, ...(advice !== undefined && { advice }) })
  }
  return { kind: 'NodeProfile', name, findings }
}

/** How the profile failed on a node, also where another operation has come after; undefined where it did not. */
export function failureOf(profile: string, status: NodeState['status']) {
  const { rollout, failed = [] } = status ?? {}
  const isOf = (id: string) => profileRunOf(id)?.profile === profile
  if (rollout && isOf(rollout.operationID))
    return rollout.phase === 'Failed' || rollout.phase === 'RequiresAttention' ? rollout : undefined
  return failed.findLast(({ operationID }) => isOf(operationID))
}

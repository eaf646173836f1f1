import type { Node, Pod } from '../../api/kube.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { Drain } from '../../core/drain/drain-policy.ts'
import { judgePod } from '../../core/drain/judge-pod.ts'
import { couldRun, isReady } from '../../core/node/node-facts.ts'

/** What the drain makes of a pod that does not hold it up, by the operator's own judgement. */
export function podFate(pod: Pod, rollout: Rollout, drain: Drain, nodes: readonly Node[], now: Date): Reason {
  const here = nodes.find(({ metadata }) => metadata.name === pod.spec.nodeName)
  const sinceMs = Date.parse(rollout.since)
  const verdict = judgePod(
    {
      pod,
      node: { name: pod.spec.nodeName ?? '', ready: here !== undefined && isReady(here) },
      times: { sinceMs, nowMs: now.getTime(), deadlineMs: sinceMs + drain.timeoutMs, graceUntilMs: 0 },
      budgets: [],
      allowance: () => ({ left: 1 }),
      ...(isOperator(pod) && {
        operator: nodes.some((node) => node !== here && couldRun(node, pod)) ? 'moves' : 'stays',
      }),
    },
    drain,
  )
  return verdict.reason
}

function isOperator({ metadata }: Pod): boolean {
  return (
    metadata.labels?.['app.kubernetes.io/name'] === 'slipway' &&
    metadata.labels['app.kubernetes.io/component'] === 'operator'
  )
}

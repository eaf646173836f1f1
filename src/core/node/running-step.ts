import type { NodeState } from '../../api/node-state.ts'

/** The step the agent is at, of the order that stands. */
export function runningStep(state: NodeState | undefined): string | undefined {
  const reported = state?.status?.agent?.order
  if (!reported || reported.id !== state?.spec.order?.id) return undefined
  return reported.steps.find((step) => step.state === 'Running')?.name
}

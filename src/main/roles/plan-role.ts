import type { PlanOptions } from '../../cli/dependencies.ts'
import type { PlanReport } from '../../core/plan/plan-report.ts'
import { rehearse } from '../simulation/rehearse.ts'

/** More rehearsals tell chance from certainty better; of a large cluster one takes long. */
const rehearsalsUpTo = [
  { pods: 2_000, rehearsals: 5 },
  { pods: 20_000, rehearsals: 3 },
] as const
/** So small a cluster is rehearsed more often where chance decides who finds room. */
const whereTight = { pods: 500, rehearsals: 15 }
/** A cluster of so many nodes is rehearsed whole; of a larger one, so many. */
const wholeUpTo = 100
const nodesOfLarge = 60

export function planRole(version: string, options: PlanOptions, signal: AbortSignal): Promise<PlanReport> {
  const { pods, nodes } = options.snapshot
  const isLarge = nodes.length > wholeUpTo
  const affordable = rehearsalsUpTo.find((step) => pods.length <= step.pods)?.rehearsals ?? 3
  const nodesAtMost = options.nodesAtMost ?? (isLarge ? nodesOfLarge : wholeUpTo)
  const isAsked = options.rehearsals !== undefined
  const times = {
    rehearsals: options.rehearsals ?? affordable,
    ...(!isAsked && pods.length <= whereTight.pods && { rehearsalsWhereTight: whereTight.rehearsals }),
  }
  return rehearse({ ...options, ...times, version, nodesAtMost }, signal)
}

import type { PlanOptions } from '../../cli/dependencies.ts'
import type { PlanReport } from '../../core/plan/plan-report.ts'
import { rehearse } from '../simulation/rehearse.ts'

/** More rehearsals tell chance from certainty better; of a large cluster one takes long. */
const rehearsalsUpTo = [
  { pods: 2_000, rehearsals: 5 },
  { pods: 20_000, rehearsals: 3 },
] as const

export function planRole(version: string, options: PlanOptions, signal: AbortSignal): Promise<PlanReport> {
  const pods = options.snapshot.pods.length
  const affordable = rehearsalsUpTo.find((step) => pods <= step.pods)?.rehearsals ?? 1
  return rehearse({ ...options, version, rehearsals: options.rehearsals ?? affordable }, signal)
}

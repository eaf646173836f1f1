// A path over several minor versions is walked step by step, and to engine, ledger and agents each step is an operation of its own:
// its id is that of the update's run with the number of the step. A path of one step is the run itself.

import type { DirectUpdate, DirectUpdateStatus } from '../../api/direct-update.ts'
import { isPattern } from '../versions/wish.ts'

export interface PathStep {
  /** From 0. */
  readonly index: number
  readonly of: number
  readonly version: string
  /** Whether workers move in it, too. */
  readonly takesWorkers: boolean
}

/** Where the run is on its recorded path; undefined where the version that is written is the one and only step. */
export function pathStepOf({ spec, status }: Pick<DirectUpdate, 'spec' | 'status'>, run: string): PathStep | undefined {
  const path = status?.operationID === run ? status.path : undefined
  if (!path || !spec.kubernetes) return undefined
  const steps = path.steps ?? [path.target]
  if (steps.length === 1 && !isPattern(spec.kubernetes.version)) return undefined
  const index = Math.min(path.step ?? 0, steps.length - 1)
  const takesWorkers = path.workers?.includes(index) ?? true
  return { index, of: steps.length, version: steps[index] ?? path.target, takesWorkers }
}

export function isLastStep(step: PathStep | undefined): boolean {
  return !step || step.index === step.of - 1
}

/** The id of a step of this run. */
export function stepID(run: string, { index, of }: Pick<PathStep, 'index' | 'of'>): string {
  return of > 1 ? `${run}.${index + 1}` : run
}

/** The id that nodes, grants and approvals carry while the update is where its status says. */
export function presentID({ operationID = '', path }: Pick<DirectUpdateStatus, 'operationID' | 'path'>): string {
  return stepID(operationID, { index: path?.step ?? 0, of: path?.steps?.length ?? 1 })
}

/** Whether the id is the run's own, or that of one of its steps. */
export function isOfRun(id: string, run: string): boolean {
  return id === run || (id.startsWith(`${run}.`) && !id.slice(run.length + 1).includes('/'))
}

/** For people: `step 1 of 2: v1.35.4`. */
export function stepText({ index, of, version }: Pick<PathStep, 'index' | 'of' | 'version'>): string {
  return `step ${index + 1} of ${of}: ${version}`
}

// An update as data: what `--output json|yaml` of status and update prints.

import type { DirectUpdate, UpdateCondition } from '../api/direct-update.ts'
import type { Refusal } from '../core/update/outcome.ts'
import type { Counts, NodeProgress, ProgressView, Wait } from './progress/view.ts'

export interface UpdateReport {
  readonly name: string
  readonly phase: string
  readonly target: string
  readonly current?: string
  readonly operationID?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly summary: Counts
  readonly refusal?: Refusal
  readonly paused: boolean
  readonly wave?: NonNullable<DirectUpdate['status']>['wave']
  readonly warnings?: NonNullable<DirectUpdate['status']>['warnings']
  readonly waves: readonly { readonly title: string; readonly counts: Counts }[]
  readonly waits: readonly Wait[]
  readonly nodes: readonly NodeProgress[]
  readonly conditions: readonly UpdateCondition[]
}

export function updateReport(view: ProgressView, update: DirectUpdate): UpdateReport {
  const operationID = update.status?.operationID
  return {
    name: view.name,
    phase: view.phase,
    target: view.target,
    ...(view.current !== undefined && { current: view.current }),
    ...(operationID !== undefined && { operationID }),
    ...(view.startedAt !== undefined && { startedAt: view.startedAt }),
    ...(view.finishedAt !== undefined && { finishedAt: view.finishedAt }),
    summary: view.counts,
    ...(view.refusal && { refusal: view.refusal }),
    paused: view.paused,
    ...(update.status?.wave && { wave: update.status.wave }),
    ...(update.status?.warnings && { warnings: update.status.warnings }),
    waves: view.waves.map(({ title, counts }) => ({ title, counts })),
    waits: view.waits,
    nodes: view.waves.flatMap((wave) => wave.nodes),
    conditions: update.status?.conditions ?? [],
  }
}

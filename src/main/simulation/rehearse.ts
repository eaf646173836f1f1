// Several rehearsals of one update on one cluster, and the report of them.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { resolveCount } from '../../core/count.ts'
import { selects } from '../../core/label-selector.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type PlanReport, type PlanRun, planReport } from '../../core/plan/plan-report.ts'
import { stepTimes } from '../../core/plan/step-times.ts'
import { needsStaging } from '../../core/update/needs-staging.ts'
import { strategyOf } from '../../core/update/waves.ts'
import { workOf } from '../../core/update/work-of.ts'
import { planRun } from './plan-run.ts'
import { leftOut, rehearsable } from './rehearsable.ts'

export interface PlannedUpdate {
  readonly name: string
  readonly spec: DirectUpdateSpec
}

export interface RehearsalOptions {
  readonly snapshot: ClusterSnapshot
  readonly update: PlannedUpdate
  readonly version: string
  readonly seed: number
  readonly rehearsals: number
}

export async function rehearse(options: RehearsalOptions, signal: AbortSignal): Promise<PlanReport> {
  const { snapshot, update, version, seed, rehearsals } = options
  const rehearsed = { name: update.name, spec: rehearsable(update.spec) }
  const runs: PlanRun[] = []
  for (let run = 0; run < rehearsals && !signal.aborted; run++) {
    runs.push(await planRun({ snapshot, update: rehearsed, version, seed: `${seed}/${run}` }, signal))
    // Refused before a node was touched: chance has no part in it.
    if (runs[0]?.taken.length === 0) break
  }
  const { waves } = strategyOf(update.spec.strategy)
  return planReport({
    update: update.name,
    runs,
    racing: racing(snapshot, update.spec),
    titleOf: (wave) => titleOf(wave, waves.length),
    assumptions: assumptions(snapshot, update.spec, runs),
  })
}

function titleOf(wave: number, waves: number): string {
  if (wave === 0) return 'control plane'
  return waves === 1 ? 'workers' : `wave ${wave} of ${waves}`
}

/** As many as stage ahead of the first one. */
function racing({ nodes }: ClusterSnapshot, spec: DirectUpdateSpec): number {
  if (!needsStaging(workOf(spec, ''))) return 0
  const workers = nodes.filter((node) => roleOf(node) === 'Worker' && selects(spec.nodeSelector, node.metadata.labels))
  return Math.max(2, 2 * resolveCount(strategyOf(spec.strategy).maxUnavailable, workers.length))
}

function assumptions(snapshot: ClusterSnapshot, spec: DirectUpdateSpec, runs: readonly PlanRun[]): readonly string[] {
  const times = [...stepTimes(snapshot.nodeStates)]
  const measured = times.filter(([, { measured: count }]) => count > 0)
  const assumed = times.filter(([, { measured: count }]) => count === 0)
  const text = (list: typeof times) =>
    list.map(([step, { medianMs }]) => `${step} ${Math.round(medianMs / 1000)} s`).join(', ')
  return [
    ...(measured.length > 0 ? [`measured on earlier work: ${text(measured)}`] : []),
    ...(assumed.length > 0 ? [`assumed, for want of a measurement: ${text(assumed)}`] : []),
    'downloads are done before a node is drained and are not counted',
    ...(strategyOf(spec.strategy).waves.some(({ promotion }) => promotion === 'Manual')
      ? ['a wave that wants an approval gets it at once']
      : []),
    ...leftOut(snapshot.maintenancePolicies, spec),
    ...(snapshot.installed ? [] : ['Slipway is not installed: every Ready node is taken to have an agent']),
    ...(runs.some(({ blockers }) => blockers.length > 0)
      ? ['where a drain is blocked, a person removes the pods in its way when its time is up; that is in the duration']
      : []),
  ]
}

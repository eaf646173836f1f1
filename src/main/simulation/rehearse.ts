// Several rehearsals of one update on one cluster, and the report of them.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Pod } from '../../api/kube.ts'
import type { Reason } from '../../api/reason.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { apiAwayWarning } from '../../core/control-plane/api-away.ts'
import { resolveCount } from '../../core/count.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { selects } from '../../core/label-selector.ts'
import { isReady, roleOf } from '../../core/node/node-facts.ts'
import type { Blocker } from '../../core/plan/blocker.ts'
import { gateDoubts, isPodReady } from '../../core/plan/gate-doubts.ts'
import { type PlanReport, type PlanRun, planReport, type ReportView } from '../../core/plan/plan-report.ts'
import { withVersion } from '../../core/plan/plan-update.ts'
import { resolvedLater, withOpenVersion } from '../../core/plan/resolved-later.ts'
import { stepTimes } from '../../core/plan/step-times.ts'
import { isRoomTight } from '../../core/plan/tight-room.ts'
import { workTime } from '../../core/plan/work-time.ts'
import { Calendar } from '../../core/time/calendar.ts'
import { needsStaging } from '../../core/update/needs-staging.ts'
import { strategyOf } from '../../core/update/waves.ts'
import { workOf } from '../../core/update/work-of.ts'
import type { Offers } from '../../core/versions/offers.ts'
import { type LargePlan, type LargeView, largePlan, nodesInTurn, policyOf, refusalOf } from './large-cluster.ts'
import { planRun } from './plan-run.ts'
import { assumedContent, leftOut, rehearsable } from './rehearsable.ts'
import { versionsFor } from './rehearsed-versions.ts'

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
  /** As many instead where chance decides who finds room; absent: no more than otherwise. */
  readonly rehearsalsWhereTight?: number
  /** As many nodes as are rehearsed; of the others is told what can be without. */
  readonly nodesAtMost: number
  /** Which versions there are, besides what the hosts say. */
  readonly offers?: Offers
  readonly onRehearsal?: (done: number, of: number) => void
}

export async function rehearse(options: RehearsalOptions, signal: AbortSignal): Promise<PlanReport> {
  const { snapshot, version, nodesAtMost, offers } = options
  const wished = rehearsable(options.update.spec)
  const { path, fault, hosts } = versionsFor(snapshot, wished, offers)
  const update = { name: options.update.name, spec: withVersion(wished, path?.target) }
  const view = { snapshot, update, version, ...(hosts && { offers: hosts }), ...(offers && { others: offers }) }
  const itinerary = nodesInTurn(view)
  const inTurn = itinerary.waves.flat().length
  const refusal = inTurn > nodesAtMost ? refusalOf(view) : undefined
  const large = inTurn > nodesAtMost && !refusal ? largePlan(view, itinerary, nodesAtMost) : undefined
  const drain = drainOf(policyOf(snapshot)?.drain, update.spec.drain)
  // Of a large cluster every pod is looked at, and whatever is in doubt is told.
  const isTight = !large && options.rehearsalsWhereTight !== undefined && isRoomTight({ snapshot, itinerary, drain })
  const rehearsals = (isTight && options.rehearsalsWhereTight) || options.rehearsals
  const found = refusal ? [refusal] : await rehearsed(view, { ...options, rehearsals }, large, signal)
  const later = { spec: options.update.spec, path, fault, updates: snapshot.directUpdates }
  const runs = found.map((run) => withOpenVersion(run, later))
  const { waves } = strategyOf(update.spec.strategy)
  return planReport({
    update: update.name,
    ...(path && { path }),
    runs,
    alike: large ? inTurn - large.rehearsed : 0,
    doubts: runs.some(({ taken }) => taken.length > 0) ? doubtsOf(snapshot, update.spec) : [],
    racing: racing(snapshot, update.spec),
    inTurn: itinerary.waves,
    titleOf: (wave) => titleOf(wave, waves.length),
    ...hoursOf(snapshot, options.update.spec),
    warnings: warningsOf(snapshot, update.spec, new Set(itinerary.waves.flat())),
    assumptions: [
      ...(large ? [alikeText(large.rehearsed, inTurn)] : []),
      ...assumptions(snapshot, options.update.spec, runs),
      ...resolvedLater(later),
    ],
  })
}

async function rehearsed(
  view: LargeView,
  { seed, rehearsals, onRehearsal }: Pick<RehearsalOptions, 'seed' | 'rehearsals' | 'onRehearsal'>,
  large: LargePlan | undefined,
  signal: AbortSignal,
): Promise<readonly PlanRun[]> {
  const runs: PlanRun[] = []
  for (let run = 0; run < rehearsals && !signal.aborted; run++) {
    const found = await planRun({ ...view, seed: `${seed}/${run}`, ...(large && { part: large.part }) }, signal)
    runs.push(large ? large.whole(found) : found)
    onRehearsal?.(run + 1, rehearsals)
    // Refused before a node was touched: chance has no part in it.
    if (found.taken.length === 0) break
  }
  return runs
}

/** Pods that are not well when it begins: how soon they are, and how soon a gate asks for them, differs from run to run. */
function doubtsOf(snapshot: ClusterSnapshot, spec: DirectUpdateSpec): readonly Blocker[] {
  const lost = new Set(snapshot.nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name))
  const gates = [...(policyOf(snapshot)?.gates ?? []), ...(spec.gates ?? [])]
  const isDoubtful = (pod: Pod) => !isPodReady(pod) || lost.has(pod.spec.nodeName ?? '')
  return gateDoubts(gates, snapshot.pods, isDoubtful).map(({ blocker }) => blocker)
}

/** That the API will be away stands in the update's status as well; here its length is told also where it is only assumed. */
function warningsOf(snapshot: ClusterSnapshot, spec: DirectUpdateSpec, taken: ReadonlySet<string>): readonly Reason[] {
  const { nodes, nodeStates } = snapshot
  const states = new Map(nodeStates.map((state) => [state.metadata.name, state]))
  const selected = nodes.filter(({ metadata }) => taken.has(metadata.name))
  const lasts = workTime(workOf(spec, ''), 'ControlPlane', stepTimes(nodeStates))
  const away = apiAwayWarning(nodes, selected, (name) => states.get(name), policyOf(snapshot)?.datastore, lasts)
  return away ? [away] : []
}

/** Every work of a DirectUpdate is of one kind for the windows. */
function hoursOf(snapshot: ClusterSnapshot, { windows }: DirectUpdateSpec): Pick<ReportView, 'hours'> {
  const policy = policyOf(snapshot)
  if (!policy?.windows?.length && !policy?.freezes?.length && !windows?.length) return {}
  const calendars = [new Calendar(policy ?? {}), ...(windows ? [new Calendar({ windows })] : [])]
  return { hours: { calendars, kind: 'Update', fromMs: Date.parse(snapshot.takenAt) } }
}

function alikeText(rehearsed: number, all: number): string {
  return `${rehearsed} of ${all} nodes were rehearsed; the others are taken to go as those, and their pods were looked at one by one`
}

function titleOf(wave: number, waves: number): string {
  if (wave === 0) return 'control plane'
  return waves === 1 ? 'workers' : `wave ${wave} of ${waves}`
}

/**
 * As many as stage ahead of the first one. Where parts of the cluster have budgets of their own and there is a choice, since several
 * are away at once or have staged, all of them: who is next hangs on which part is seen to have a node back first.
 */
function racing({ nodes, maintenancePolicies }: ClusterSnapshot, spec: DirectUpdateSpec): number {
  const workers = nodes.filter((node) => roleOf(node) === 'Worker' && selects(spec.nodeSelector, node.metadata.labels))
  const atOnce = resolveCount(strategyOf(spec.strategy).maxUnavailable, workers.length)
  const budgets = maintenancePolicies.flatMap((policy) => policy.spec.budgets ?? [])
  const isParted = budgets.some(({ per, nodeSelector }) => per !== undefined || nodeSelector !== undefined)
  // What a profile comes to is known per node, and always staged.
  const isStaged = spec.profile !== undefined || needsStaging(workOf(spec, ''))
  if (isParted && (atOnce > 1 || isStaged)) return Number.POSITIVE_INFINITY
  return isStaged ? Math.max(2, 2 * atOnce) : 0
}

function assumptions(snapshot: ClusterSnapshot, spec: DirectUpdateSpec, runs: readonly PlanRun[]): readonly string[] {
  const steps = new Set(runs.flatMap((run) => run.steps))
  const times = [...stepTimes(snapshot.nodeStates)].filter(([step]) => steps.has(step))
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
    ...assumedContent(snapshot.nodeProfiles.filter(({ metadata }) => metadata.name === spec.profile)),
    ...(snapshot.installed ? [] : ['Slipway is not installed: every Ready node is taken to have an agent']),
    ...(runs.some(({ blockers }) => blockers.length > 0)
      ? ['where a drain is blocked, a person removes the pods in its way when its time is up; that is in the duration']
      : []),
  ]
}

// A plan for a cluster that is too large to be rehearsed whole: order, waves and what a look at every pod finds for all of it, and
// the real engine on a part.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { Node } from '../../api/kube.ts'
import { policyName } from '../../api/maintenance-policy.ts'
import { checkNames } from '../../api/preflight.ts'
import type { ClusterSnapshot } from '../../api/snapshot.ts'
import { resolveCount } from '../../core/count.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { parseDuration } from '../../core/duration.ts'
import { judgeExpression } from '../../core/gates/expression.ts'
import { selects } from '../../core/label-selector.ts'
import { type Itinerary, itineraryOf } from '../../core/plan/itinerary.ts'
import { lookAtPods } from '../../core/plan/look.ts'
import type { PlanRun } from '../../core/plan/plan-report.ts'
import { planUpdate } from '../../core/plan/plan-update.ts'
import { sampleNodes } from '../../core/plan/sample.ts'
import type { NodeSet } from '../../core/plan/timetable.ts'
import { wholeRun } from '../../core/plan/whole-run.ts'
import { needsStaging } from '../../core/update/needs-staging.ts'
import { strategyOf } from '../../core/update/waves.ts'
import { workOf } from '../../core/update/work-of.ts'
import type { Offers } from '../../core/versions/offers.ts'
import { isOperator } from './loaded-cluster.ts'
import { type Part, partOfCluster } from './part-of-cluster.ts'
import { rehearsedChecks } from './plan-steering.ts'

export interface LargeView {
  readonly snapshot: ClusterSnapshot
  readonly update: { readonly name: string; readonly spec: DirectUpdateSpec }
  readonly version: string
  /** What every host has in its package index; absent: what a pretend host has. */
  readonly offers?: readonly string[]
  /** Which versions there are, besides what the hosts say. */
  readonly others?: Offers
}

export interface LargePlan {
  readonly part: Part
  readonly rehearsed: number
  /** What the rehearsal of the part says of the whole. */
  readonly whole: (run: PlanRun) => PlanRun
}

export function nodesInTurn({ snapshot, update }: LargeView): Itinerary {
  const { nodes, nodeStates, pods, leader } = snapshot
  const states = new Map(nodeStates.map((state) => [state.metadata.name, state]))
  const operators = pods.filter(isOperator)
  const leading = operators.find(({ metadata }) => metadata.name === leader) ?? operators[0]
  const { spec } = update
  return itineraryOf({
    ...{ spec, nodes, policy: policyOf(snapshot), ownNode: leading?.spec.nodeName },
    stateOf: (name) => states.get(name),
  })
}

/** The planner's refusal, as the operator would give it of the whole cluster. */
export function refusalOf({ snapshot, update, version, others }: LargeView): PlanRun | undefined {
  const states = new Map(snapshot.nodeStates.map((state) => [state.metadata.name, state]))
  const { spec, name } = update
  // Without agents nobody can say what the hosts have.
  const skip = snapshot.installed ? [...(spec.preflight?.skip ?? []), ...rehearsedChecks] : [...checkNames]
  const plan = planUpdate({
    ...{ name, nodes: snapshot.nodes, profiles: snapshot.nodeProfiles, policy: policyOf(snapshot) },
    spec: { ...spec, preflight: { skip } },
    stateOf: (node) => states.get(node),
    serverVersion: snapshot.serverVersion,
    operatorVersion: version,
    offers: others,
    now: new Date(snapshot.takenAt),
    scriptSha256: spec.script?.sha256,
    ...(spec.script?.validate && { validation: { sha256: spec.script.validate.sha256 } }),
  })
  if (plan.verdict === 'planned') return undefined
  const { code, message } = plan.reason
  const blockers = [{ key: code, code, message, lasting: true }]
  return {
    phase: 'Pending',
    startedMs: 0,
    durationMs: 0,
    taken: [],
    blockers,
    near: [],
    unplaced: new Map(),
    steps: [],
  }
}

export function largePlan(view: LargeView, itinerary: Itinerary, atMost: number): LargePlan {
  const { snapshot, update } = view
  const { spec } = update
  const nodes = new Map(snapshot.nodes.map((node) => [node.metadata.name, node]))
  const states = new Map(snapshot.nodeStates.map((state) => [state.metadata.name, state]))
  const drain = drainOf(policyOf(snapshot)?.drain, spec.drain)
  const gates = [...(policyOf(snapshot)?.gates ?? []), ...(spec.gates ?? [])]
  const findings = lookAtPods({ snapshot, itinerary, drain, gates })
  const homes = snapshot.pods.flatMap((pod) => (isOperator(pod) && pod.spec.nodeName ? [pod.spec.nodeName] : []))
  const rehearsed = sampleNodes({
    ...{ itinerary, findings, atMost },
    nodeOf: (name) => nodes.get(name),
    stateOf: (name) => states.get(name),
    wanted: [...homes, ...closedFor(gates, itinerary, nodes)],
  })
  const part = partOfCluster({ snapshot, spec, itinerary, rehearsed })
  const { waves, maxUnavailable } = strategyOf(part.spec.strategy)
  return {
    part,
    rehearsed: rehearsed.size,
    whole: (run) =>
      wholeRun(run, {
        ...{ itinerary, rehearsed, findings, drain, setsOf: setsOf(snapshot) },
        soakMs: waves.map(({ soak }) => (soak === undefined ? 0 : parseDuration(soak))),
        racing:
          spec.profile !== undefined || needsStaging(workOf(spec, '')) ? Math.max(2, 2 * Number(maxUnavailable)) : 0,
      }),
  }
}

/** For each gate on the node alone the first nodes that it does not hold for: the update comes no further. */
function closedFor(
  gates: readonly GateSpec[],
  { waves }: Itinerary,
  nodes: ReadonlyMap<string, Node>,
): readonly string[] {
  return gates.flatMap((gate) => {
    if (gate.type !== 'Cel' || gate.object || !gate.expression) return []
    const { expression } = gate
    const isClosed = (name: string, wave: number) =>
      judgeExpression(expression, { object: null, objects: [], node: nodes.get(name), wave }).state !== 'holds'
    return waves.flatMap((names, wave) => names.find((name) => isClosed(name, wave)) ?? [])
  })
}

/** The sets with budgets of their own that a node is in, each with its name. */
function setsOf(snapshot: ClusterSnapshot): (node: string) => readonly NodeSet[] {
  const sets = new Map<string, NodeSet[]>()
  for (const [index, { per, nodeSelector, maxUnavailable }] of (policyOf(snapshot)?.budgets ?? []).entries()) {
    if (!per && !nodeSelector) continue
    const members = new Map<string, string[]>()
    for (const { metadata } of snapshot.nodes) {
      if (!selects(nodeSelector, metadata.labels)) continue
      const key = `${index} ${per === undefined ? '' : (metadata.labels?.[per] ?? ' ')}`
      members.set(key, [...(members.get(key) ?? []), metadata.name])
    }
    for (const [name, names] of members) {
      const set = { name, maxUnavailable: resolveCount(maxUnavailable, names.length) }
      for (const node of names) sets.set(node, [...(sets.get(node) ?? []), set])
    }
  }
  return (node) => sets.get(node) ?? []
}

export function policyOf({ maintenancePolicies }: ClusterSnapshot) {
  return maintenancePolicies.find(({ metadata }) => metadata.name === policyName)?.spec
}

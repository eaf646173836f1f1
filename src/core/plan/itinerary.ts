// Whom an update takes, in which order and wave, told from the nodes alone: the order the operator follows when nothing is in its
// way.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import { resolveCount } from '../count.ts'
import { selects } from '../label-selector.ts'
import { isReady, isUnavailable, roleOf } from '../node/node-facts.ts'
import { isChosen } from '../update/is-chosen.ts'
import { isAtTarget } from '../update/standing.ts'
import { type Turn, turnKey, turnOrder, weightOf, zoneOf } from '../update/turn-order.ts'
import { strategyOf, waveLimit } from '../update/waves.ts'
import { workOf } from '../update/work-of.ts'

export interface ItineraryView {
  readonly spec: DirectUpdateSpec
  readonly nodes: readonly Node[]
  readonly stateOf: (node: string) => NodeState | undefined
  readonly policy: MaintenancePolicy['spec'] | undefined
  /** Where the leading operator runs: among its equals that node comes last. */
  readonly ownNode: string | undefined
}

export interface Itinerary {
  /** Of the control plane, then of each wave of workers, in turn. */
  readonly waves: readonly (readonly string[])[]
  /** Selected, but not Ready: waited for, not worked on; by the same waves. */
  readonly unready: readonly (readonly string[])[]
  /** How many workers may be under work at once, by the strategy; nodes that are not Ready count. */
  readonly maxUnavailable: number
  /** The same, by the budgets of the whole cluster, too. */
  readonly atOnce: number
}

interface Placed extends Turn {
  readonly ready: boolean
  /** Away already, at the front of its equals; the operator's own at their end. */
  readonly place: number
}

export function itineraryOf(view: ItineraryView): Itinerary {
  const { spec, nodes, stateOf, policy, ownNode } = view
  const alive = nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const operation = { work: workOf(spec, '') }
  const isDone = (node: Node) => spec.profile === undefined && isAtTarget(operation, node, stateOf(node.metadata.name))
  const { waves, maxUnavailable, first } = strategyOf(spec.strategy)
  const inTurn = turnOrder(
    alive.filter((node) => isChosen(spec, node) && !isDone(node)).map((node) => placed(node, ownNode, first)),
  )
  const controlPlane = inTurn.filter(({ role }) => role === 'ControlPlane')
  const workers = inTurn.filter(({ role }) => role === 'Worker')
  const ends = waves.map((_, index) => waveLimit(waves, index, workers.length))
  const parts = [controlPlane, ...ends.map((end, index) => workers.slice(ends[index - 1] ?? 0, end))]
  const selectedWorkers = alive.filter(
    (node) => roleOf(node) === 'Worker' && selects(spec.nodeSelector, node.metadata.labels),
  ).length
  const limit = resolveCount(maxUnavailable, selectedWorkers)
  const budgets = (policy?.budgets ?? []).filter(({ per, nodeSelector }) => !per && !nodeSelector)
  const away = nodes.filter(isUnavailable).length
  const granted = budgets.map((budget) => resolveCount(budget.maxUnavailable, nodes.length) - away)
  return {
    waves: parts.map((part) => namesOf(inOrder(part))),
    unready: parts.map((part) => namesOf(part.filter(({ ready }) => !ready))),
    maxUnavailable: limit,
    atOnce: Math.max(1, Math.min(limit, ...granted)),
  }
}

function placed(node: Node, ownNode: string | undefined, first: readonly string[]): Placed {
  const { name } = node.metadata
  const ready = isReady(node)
  return {
    name,
    key: turnKey(name),
    role: roleOf(node),
    weight: weightOf(node, first),
    zone: zoneOf(node),
    ready,
    place: ready && isUnavailable(node) ? 0 : name === ownNode ? 2 : 1,
  }
}

function inOrder(members: readonly Placed[]): readonly Placed[] {
  return members.filter(({ ready }) => ready).toSorted((a, b) => b.weight - a.weight || a.place - b.place)
}

function namesOf(members: readonly Placed[]): readonly string[] {
  return members.map(({ name }) => name)
}

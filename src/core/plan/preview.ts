// The cheap look ahead that stands in an update's status: which nodes, in which order, for about how long, and what is in the way
// already. It knows nothing of pods; `slipway plan` does.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { type Preview, previewLimits } from '../../api/preview.ts'
import type { Work } from '../../api/work.ts'
import { formatDuration, parseDuration } from '../duration.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { type Turn, turnKey, turnOrder, weightOf, zoneOf } from '../update/turn-order.ts'
import { type Wave, waveLimit } from '../update/waves.ts'
import { stepTimes } from './step-times.ts'
import { workTime } from './work-time.ts'

export interface PreviewView {
  /** The nodes that have something to do, in no special order. */
  readonly nodes: readonly Node[]
  readonly states: Iterable<NodeState>
  readonly work: Work
  readonly waves: readonly Wave[]
  /** Names that come before all others of their role. */
  readonly first?: readonly string[]
  /** Workers at once, by the strategy and by the cluster's budgets. */
  readonly atOnce: number
  readonly paused: boolean
  /** Another operation that holds the node. */
  readonly heldBy: (node: string) => string | undefined
  /** How often each of them is taken on a path of several versions; absent: once. */
  readonly turns?: { readonly controlPlane: number; readonly workers: number }
}

/** Until a node is empty; pods say how long they take, and are not asked here. */
const drainMs = 60_000

export function previewOf(view: PreviewView): Preview {
  const inTurn = turnOrder(view.nodes.map((node) => turnOf(node, view.first)))
  const controlPlane = inTurn.filter(({ role }) => role === 'ControlPlane')
  const workers = inTurn.filter(({ role }) => role === 'Worker')
  const ends = view.waves.map((_, index) => waveLimit(view.waves, index, workers.length))
  const waves = ends.map((end, index) => workers.slice(ends[index - 1] ?? 0, end))
  const times = stepTimes(view.states)
  const one = (role: 'ControlPlane' | 'Worker') => drainMs + workTime(view.work, role, times).ms
  const soakMs = view.waves.reduce((sum, { soak }) => sum + (soak === undefined ? 0 : parseDuration(soak)), 0)
  const rounds = waves.reduce((sum, { length }) => sum + Math.ceil(length / Math.max(1, view.atOnce)), 0)
  const workersMs = workers.length === 0 ? 0 : rounds * one('Worker') + soakMs
  const { turns = { controlPlane: 1, workers: 1 } } = view
  const ms = controlPlane.length * one('ControlPlane') * turns.controlPlane + workersMs * turns.workers
  return {
    waves: [controlPlane, ...waves].filter(({ length }) => length > 0).map(waveOf),
    ...(ms > 0 && { duration: formatDuration(ms) }),
    blockers: [...blockers(view, inTurn)].slice(0, previewLimits.blockers),
  }
}

interface Turned extends Turn {
  readonly ready: boolean
}

function turnOf(node: Node, first?: readonly string[]): Turned {
  const { name } = node.metadata
  const turn = { name, key: turnKey(name), role: roleOf(node), weight: weightOf(node, first), zone: zoneOf(node) }
  return { ...turn, ready: isReady(node) }
}

function waveOf(nodes: readonly Turned[]): Preview['waves'][number] {
  return { nodes: nodes.length, first: nodes.slice(0, previewLimits.names).map(({ name }) => name) }
}

function* blockers(view: PreviewView, nodes: readonly Turned[]): Generator<Preview['blockers'][number]> {
  if (view.paused) {
    yield { reason: { code: 'PolicyPaused', message: 'MaintenancePolicy/default is paused: nothing new starts' } }
  }
  for (const { name, ready } of nodes) {
    if (!ready) {
      yield {
        node: name,
        reason: { code: 'NodeNotReady', message: `${name} is not Ready; it is worked on when it is back` },
      }
    }
    const holder = view.heldBy(name)
    if (holder !== undefined) {
      yield { node: name, reason: { code: 'NodeHeldElsewhere', message: `${name} is held by ${holder}` } }
    }
  }
}

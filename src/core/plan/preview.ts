// The cheap look ahead that stands in an update's status: which nodes, in which order, for about how long, and what is in the way
// already. It knows nothing of pods; `slipway plan` does.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { type Preview, previewLimits } from '../../api/preview.ts'
import type { Work } from '../../api/work.ts'
import { formatDuration, parseDuration } from '../duration.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { type Turn, turnOrder, weightOf, zoneOf } from '../update/turn-order.ts'
import { type Wave, waveLimit } from '../update/waves.ts'
import { type StepTime, stepTimes } from './step-times.ts'

export interface PreviewView {
  /** The nodes that have something to do, in no special order. */
  readonly nodes: readonly Node[]
  readonly states: Iterable<NodeState>
  readonly work: Work
  readonly waves: readonly Wave[]
  /** Workers at once, by the strategy and by the cluster's budgets. */
  readonly atOnce: number
  readonly paused: boolean
  /** Another operation that holds the node. */
  readonly heldBy: (node: string) => string | undefined
}

/** Until a node is empty; pods say how long they take, and are not asked here. */
const drainMs = 60_000

export function previewOf(view: PreviewView): Preview {
  const inTurn = turnOrder(view.nodes.map(turnOf))
  const controlPlane = inTurn.filter(({ role }) => role === 'ControlPlane')
  const workers = inTurn.filter(({ role }) => role === 'Worker')
  const ends = view.waves.map((_, index) => waveLimit(view.waves, index, workers.length))
  const waves = ends.map((end, index) => workers.slice(ends[index - 1] ?? 0, end))
  const times = stepTimes(view.states)
  const one = (role: 'ControlPlane' | 'Worker') => drainMs + workMs(view.work, role, times)
  const soakMs = view.waves.reduce((sum, { soak }) => sum + (soak === undefined ? 0 : parseDuration(soak)), 0)
  const rounds = waves.reduce((sum, { length }) => sum + Math.ceil(length / Math.max(1, view.atOnce)), 0)
  const workersMs = workers.length === 0 ? 0 : rounds * one('Worker') + soakMs
  const ms = controlPlane.length * one('ControlPlane') + workersMs
  return {
    waves: [controlPlane, ...waves].filter(({ length }) => length > 0).map(waveOf),
    ...(ms > 0 && { duration: formatDuration(ms) }),
    blockers: [...blockers(view, inTurn)].slice(0, previewLimits.blockers),
  }
}

interface Turned extends Turn {
  readonly ready: boolean
}

function turnOf(node: Node): Turned {
  const { name } = node.metadata
  return { name, role: roleOf(node), weight: weightOf(node), zone: zoneOf(node), ready: isReady(node) }
}

function waveOf(nodes: readonly Turned[]): Preview['waves'][number] {
  return { nodes: nodes.length, first: nodes.slice(0, previewLimits.names).map(({ name }) => name) }
}

function workMs(work: Work, role: 'ControlPlane' | 'Worker', times: ReadonlyMap<string, StepTime>): number {
  const components = work.kubernetes ? componentsOf(work.kubernetes) : []
  const steps = [
    ...(work.profile ? ['apply-profile'] : []),
    ...(work.script ? ['script'] : []),
    ...(work.os?.packages ? ['upgrade-packages'] : []),
    ...(components.includes('kubeadm') && role === 'ControlPlane' ? ['upgrade-control-plane'] : []),
    ...(components.includes('kubelet') ? ['upgrade-kubelet', 'restart-kubelet'] : []),
    ...(components.includes('containerd') ? ['install-runtime'] : []),
    ...(components.includes('etcd') ? ['install-etcd'] : []),
    ...(work.os?.image === undefined ? [] : ['boot-image']),
    ...(work.binary ? ['swap-binary'] : []),
    ...(work.reboot === 'Always' ? ['reboot'] : []),
  ]
  return steps.reduce((sum, step) => sum + (times.get(step)?.medianMs ?? 0), 0)
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

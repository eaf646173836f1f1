// The cheap look ahead that stands in an update's status: which nodes, in which order, for about how long, and what is in the way
// already. It knows nothing of pods; `slipway plan` does.

import type { Node } from '../../api/kube.ts'
import type { NodeState } from '../../api/node-state.ts'
import { type Preview, previewLimits } from '../../api/preview.ts'
import type { Work } from '../../api/work.ts'
import { formatDuration } from '../duration.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { type StepTime, stepTimes } from './step-times.ts'

export interface PreviewView {
  /** The nodes that have something to do, in no special order. */
  readonly nodes: readonly Node[]
  readonly states: Iterable<NodeState>
  readonly work: Work
  /** Workers at once, by the strategy and by the cluster's budgets. */
  readonly atOnce: number
  readonly paused: boolean
  /** Another operation that holds the node. */
  readonly heldBy: (node: string) => string | undefined
}

/** Until a node is empty; pods say how long they take, and are not asked here. */
const drainMs = 60_000
const collator = new Intl.Collator('en', { numeric: true })

export function previewOf(view: PreviewView): Preview {
  const byRole = (role: 'ControlPlane' | 'Worker') =>
    view.nodes
      .filter((node) => roleOf(node) === role)
      .toSorted((a, b) => collator.compare(a.metadata.name, b.metadata.name))
  const controlPlane = byRole('ControlPlane')
  const workers = byRole('Worker')
  const times = stepTimes(view.states)
  const one = (role: 'ControlPlane' | 'Worker') => drainMs + workMs(view.work, role, times)
  const rounds = Math.ceil(workers.length / Math.max(1, view.atOnce))
  const ms = controlPlane.length * one('ControlPlane') + rounds * one('Worker')
  return {
    waves: [controlPlane, workers].filter(({ length }) => length > 0).map(waveOf),
    ...(ms > 0 && { duration: formatDuration(ms) }),
    blockers: [...blockers(view, [...controlPlane, ...workers])].slice(0, previewLimits.blockers),
  }
}

function waveOf(nodes: readonly Node[]): Preview['waves'][number] {
  return { nodes: nodes.length, first: nodes.slice(0, previewLimits.names).map(({ metadata }) => metadata.name) }
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

function* blockers(view: PreviewView, nodes: readonly Node[]): Generator<Preview['blockers'][number]> {
  if (view.paused) {
    yield { reason: { code: 'PolicyPaused', message: 'MaintenancePolicy/default is paused: nothing new starts' } }
  }
  for (const node of nodes) {
    const { name } = node.metadata
    if (!isReady(node)) {
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

// How a fault run must stand at its end: at rest, every node done once, a person's cordon where it was; or, where a script
// fails for good, stopped with that node cordoned.

import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { FaultScenario } from './fault-scenario.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'

interface Finding {
  readonly rule: string
  readonly message: string
}

export function judgeEnd(
  simulated: SimulatedCluster,
  scenario: FaultScenario,
  over: boolean,
  expected: 'failed' | 'rest',
): readonly Finding[] {
  const { cluster, rules } = simulated
  const nowMs = cluster.clock.monotonicMs()
  if (!over) return [{ rule: 'liveness', message: stuck(simulated) }]
  const crashed = cluster.failures.map(({ process, error }) => ({
    rule: 'crash',
    message: `${process}: ${String(error)}`,
  }))
  if (expected === 'failed') return [...crashed, ...judgeFailed(simulated, scenario)]
  rules.atRest(nowMs)
  return [...crashed, ...judgeCordon(simulated, scenario), ...judgeLock(simulated, scenario), ...judgeOnce(simulated)]
}

function judgeFailed({ cluster }: SimulatedCluster, { failing = '' }: FaultScenario): readonly Finding[] {
  const node = cluster.server.peek(nodes, { name: failing }) as Node | undefined
  if (!node || node.spec.unschedulable) return []
  return [{ rule: '10', message: `${failing} failed and is not cordoned` }]
}

function judgeCordon({ cluster }: SimulatedCluster, { cordoned }: FaultScenario): readonly Finding[] {
  if (cordoned === undefined) return []
  const node = cluster.server.peek(nodes, { name: cordoned }) as Node | undefined
  return !node || node.spec.unschedulable ? [] : [{ rule: '6', message: `the person's cordon of ${cordoned} is gone` }]
}

/** Whoever deleted the policy took with it what says that there is a lock. */
function judgeLock({ rules }: SimulatedCluster, { meddling }: FaultScenario): readonly Finding[] {
  if (rules.truth.lockOwner !== 'slipway' || meddling === 'delete-policy') return []
  return [{ rule: '6', message: 'the lock of kured was never given back' }]
}

/** No order ran to its end twice: more than one good end of a step needs a loss of power in between. */
function judgeOnce({ cluster }: SimulatedCluster): readonly Finding[] {
  const found: Finding[] = []
  for (const machine of cluster.machines.values()) {
    const ends = new Map<string, number>()
    for (const { order, step, bootId, outcome, exitCode } of machine.host.executions) {
      if (outcome !== 'exited' || exitCode !== 0) continue
      const key = `${order} ${step} ${bootId}`
      ends.set(key, (ends.get(key) ?? 0) + 1)
    }
    for (const [key, count] of ends)
      if (count > 1) found.push({ rule: '4', message: `${machine.name}: ${key} ended well ${count} times` })
  }
  return found
}

function stuck({ cluster }: SimulatedCluster): string {
  const updates = [...cluster.server.peekAll(directUpdates)] as readonly DirectUpdate[]
  const states = [...cluster.server.peekAll(nodeStates)] as readonly NodeState[]
  const about = updates.map(({ metadata, status }) => {
    const deleting = metadata.deletionTimestamp === undefined ? '' : ' (being deleted)'
    const blocked = status?.conditions?.find(
      ({ type, status: holds }) =>
        (type === 'Blocked' && holds === 'True') || (type === 'Planned' && holds === 'False'),
    )?.message
    return `${metadata.name}${deleting} is ${status?.phase} ${status?.progress}: ${blocked}`
  })
  const open = states
    .filter(({ status }) => status?.rollout && status.rollout.phase !== 'Done')
    .map(
      ({ metadata, status }) =>
        `${metadata.name} ${status?.rollout?.phase} ${status?.rollout?.reason?.message ?? ''} (agent: ${status?.agent?.order?.state})`,
    )
  return `not over after six hours: ${about.join('; ')}; ${open.join('; ')}`
}

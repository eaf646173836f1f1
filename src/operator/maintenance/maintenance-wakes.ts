// Which changes in the cluster make a node's maintenance be looked at again.

import { logsAnnotation } from '../../api/node-state.ts'
import { inProgressAnnotation, waitingTaint } from '../../core/maintenance/node-marks.ts'
import { maintenancePrefix } from '../../core/maintenance/wish.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { WakeUps } from '../wake-ups.ts'
import { nodeOfMaintenance } from './maintenance-source.ts'

export function followMaintenance({ clock, random }: OperatorPorts, cluster: Cluster, wakeUps: WakeUps): WorkQueue {
  const queue = new WorkQueue({ clock, random, baseMs: 20, maxMs: 15_000 })
  const { nodes, states, policies } = cluster
  const look = (name: string) => {
    if (concerns(cluster, name)) queue.add(name)
  }
  nodes.subscribe(({ key }) => look(key))
  states.subscribe(({ key }) => look(key))
  policies.subscribe((change) => {
    // Its status, the ledger, changes with every slot.
    if (change.type === 'changed' && equalJson(change.before.spec, change.object.spec)) return
    for (const { metadata } of states.values()) queue.add(metadata.name)
  })
  wakeUps.route(maintenancePrefix, (owner) => queue.add(nodeOfMaintenance(owner)))
  for (const { metadata } of states.values()) look(metadata.name)
  return queue
}

/** Whether there may be anything to do: in a cluster that asks for no maintenance there never is. */
function concerns({ policy, nodes, states }: Cluster, name: string): boolean {
  const { reboots, maintenance, history } = policy?.spec ?? {}
  if (reboots || maintenance || history) return true
  const node = nodes.get(name)
  const state = states.get(name)
  if (node?.metadata.annotations?.[inProgressAnnotation] !== undefined) return true
  if (node?.spec.taints?.some(({ key }) => key === waitingTaint)) return true
  const { sentinels, history: kept, logs, order } = state?.spec ?? {}
  if (sentinels || kept || logs || order?.kind === 'Maintenance') return true
  return state?.metadata.annotations?.[logsAnnotation] !== undefined
}

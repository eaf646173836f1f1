import { leases, nodes } from '../api/kube.ts'
import type { FaultEvent } from './fault-plan.ts'
import type { SimCluster } from './sim-cluster.ts'
import type { SimProcess } from './sim-process.ts'
import { operatorNamespace } from './workloads.ts'

/** Does it; says who was hit, or undefined where there was nobody to hit. */
export function carryOutEvent(cluster: SimCluster, event: FaultEvent, beginOutage: () => void): string | undefined {
  const { kind, node, forMs, amount } = event
  const machine = cluster.machine(node)
  switch (kind) {
    case 'api-outage':
      beginOutage()
      return 'api'
    case 'history-forgotten':
      cluster.server.compact()
      for (const process of cluster.clients()) process.breakWatches()
      return 'api'
    case 'power-loss':
    case 'node-death':
      if (!machine.powered) return undefined
      machine.losePowerFor(forMs)
      return node
    case 'node-deleted':
      if (!machine.powered) return undefined
      machine.losePower()
      cluster.clock.after(forMs, () => deleteNode(cluster, node))
      return node
    case 'slow-node':
      machine.host.slowDown(amount)
      cluster.clock.after(forMs, () => machine.host.slowDown(1))
      return node
    case 'clock-skew':
      machine.setSkew(amount)
      return node
    case 'etcd-sick':
      if (machine.node.role !== 'control-plane') return undefined
      machine.sickenEtcd(forMs)
      return node
    case 'lease-stolen':
      return stealLeases(cluster)
    case 'operator-frozen': {
      const process = leader(cluster)
      process?.freeze(forMs)
      return process?.name
    }
    case 'operator-killed': {
      const process = leader(cluster)
      process?.crash()
      return process?.name
    }
    case 'agent-killed':
      if (machine.agent?.alive !== true) return undefined
      machine.agent.crash()
      return machine.agent.name
  }
}

function deleteNode(cluster: SimCluster, name: string): void {
  if (cluster.server.peek(nodes, { name }) !== undefined) cluster.server.delete('person', nodes, { name }, {})
}

/** A stranger writes itself into each lease of the operator, once: it never renews. */
function stealLeases(cluster: SimCluster): string | undefined {
  const found = cluster.server.peekAll(leases, { namespace: operatorNamespace })
  const now = `${cluster.clock.now().toISOString().slice(0, -1)}000Z`
  for (const { metadata, spec } of found) {
    const stolen = {
      holderIdentity: 'stranger',
      leaseDurationSeconds: spec.leaseDurationSeconds ?? 15,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: (spec.leaseTransitions ?? 0) + 1,
    }
    const ref = { name: metadata.name, namespace: operatorNamespace }
    cluster.server.patch('stranger', leases, ref, { type: 'merge', body: { spec: stolen } })
  }
  return found[0] === undefined ? undefined : `Lease ${found[0].metadata.name}`
}

/** The operator that holds the lease, or any that runs. */
function leader(cluster: SimCluster): SimProcess | undefined {
  const operators = cluster.programs().filter(({ name }) => name.startsWith('operator/'))
  const holders = cluster.server
    .peekAll(leases, { namespace: operatorNamespace })
    .map(({ spec }) => spec.holderIdentity)
  const holds = ({ name }: SimProcess): boolean => {
    const pod = name.slice('operator/'.length)
    return holders.some((holder) => holder?.includes(pod))
  }
  return operators.find(holds) ?? operators[0]
}

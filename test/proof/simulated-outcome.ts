// A drawn cluster in the simulator: planned from its snapshot, then the update is carried out on the cluster itself, whose chance,
// pods and scheduler know nothing of the rehearsals.

import { x25519Sealing } from '../../src/adapters/crypto/x25519-sealing.ts'
import { rebootDriver } from '../../src/agent/drivers/reboot/reboot.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../src/agent/drivers/rehearsal-work.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { SideTask } from '../../src/agent/side-task.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { readClusterSnapshot } from '../../src/cli/cluster-snapshot.ts'
import { carryOut } from '../../src/main/simulation/plan-run.ts'
import { rehearsable } from '../../src/main/simulation/rehearsable.ts'
import { rehearse } from '../../src/main/simulation/rehearse.ts'
import { slipwayCluster } from '../../src/main/simulation/simulated-cluster.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import { createOperatorPods } from '../../src/sim/workloads.ts'
import { type ClusterDraft, draftCluster } from './cluster-draft.ts'
import type { Outcome } from './compare.ts'
import { hostname } from './drawn-names.ts'
import { disturb, populate } from './populate.ts'

export const rehearsals = 5
export const rehearsalsWhereTight = 15

export async function simulatedOutcome(seed: number, signal: AbortSignal, rehearsedShare = 1): Promise<Outcome> {
  const draft = draftCluster(seed, 'virtual')
  const cluster = await built(seed, draft, signal)
  const snapshot = await readClusterSnapshot(cluster.client('reader'), cluster.clock, signal)
  const update = { name: 'planned', spec: draft.update }
  const nodesAtMost = Math.floor(snapshot.nodes.length * rehearsedShare)
  const options = { snapshot, update, version: '0.0.0', seed: 1000 + seed, nodesAtMost }
  const report = await rehearse({ ...options, rehearsals, rehearsalsWhereTight }, signal)
  const run = await carryOut(cluster, snapshot, { ...update, spec: rehearsable(update.spec) }, signal)
  return { report, run }
}

async function built(seed: number, draft: ClusterDraft, signal: AbortSignal): Promise<SimCluster> {
  const { machines, operators, workMs, podStartMs, podStopMs } = draft
  const cluster = slipwayCluster({
    ...{ seed: `preview/${seed}/cluster`, nodes: machines, latencyMs: [5, 50], leaseEveryMs: 30_000 },
    ...{ workMs, podStartMs, podStopMs, log: silentLog, version: '0.0.0' },
    sealing: x25519Sealing,
    sideTasks: [hostKey(x25519Sealing.newKeys().publicKey)],
    driversOf: () => [scriptDriver, ...rehearsalWork, ...rehearsalDrivers, rebootDriver],
  })
  const person = cluster.client('person')
  cluster.start()
  const home = operators.home === undefined ? undefined : { [hostname]: operators.home }
  await createOperatorPods(person, operators.replicas, signal, home)
  await cluster.run({ limitMs: 10_000 })
  await populate(person, draft, signal)
  const reported = () => cluster.server.peekAll(nodeStates).filter(({ status }) => status?.agent).length
  await cluster.run({ limitMs: 300_000, until: () => reported() === machines.length })
  await disturb(person, draft, signal)
  if (draft.down !== undefined) cluster.machine(draft.down).losePower()
  await cluster.run({ limitMs: 120_000 })
  return cluster
}

/** As every real agent: without it no Secret of a profile comes to its host. */
function hostKey(publicKey: string): SideTask {
  return { name: 'host-key', run: ({ publisher }) => Promise.resolve(publisher.publish({ publicKey })) }
}

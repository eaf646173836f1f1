// Clusters as users have them, drawn from a seed: pools and zones, workloads with and without budgets, tight and roomy ones, pods
// that nothing would make again, nodes that are down or held by a person; and an update for each.

import { rebootDriver } from '../../src/agent/drivers/reboot/reboot.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { rehearsalWork } from '../../src/agent/drivers/rehearsal-work.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { nodes, type PodSpec, podDisruptionBudgets, pods, statefulSets } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { slipwayCluster } from '../../src/main/simulation/simulated-cluster.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { createOperatorPods, createWorkload, ensureNamespace } from '../../src/sim/workloads.ts'

export interface InventedCluster {
  readonly cluster: SimCluster
  readonly person: KubeApi
  readonly update: { readonly name: string; readonly spec: DirectUpdateSpec }
}

const hostname = 'kubernetes.io/hostname'
const shop = 'shop'

export async function inventedCluster(seed: number, signal: AbortSignal): Promise<InventedCluster> {
  const random = new SeededRandom(`preview/${seed}`)
  const machines = inventedNodes(random)
  const cluster = slipwayCluster({
    seed: `preview/${seed}/cluster`,
    nodes: machines,
    latencyMs: [5, 50],
    leaseEveryMs: 30_000,
    workMs: [random.between(10_000, 60_000), random.between(60_000, 240_000)],
    podStartMs: [random.between(200, 2_000), random.between(2_000, 20_000)],
    podStopMs: [random.between(200, 2_000), random.between(2_000, 15_000)],
    log: silentLog,
    version: '0.0.0',
    driversOf: () => [scriptDriver, ...rehearsalWork, ...rehearsalDrivers, rebootDriver],
  })
  const person = cluster.client('person')
  cluster.start()
  const home = random.chance(0.6) ? { [hostname]: machines[0]?.name ?? '' } : undefined
  await createOperatorPods(person, home ? 1 : random.pick([1, 2] as const), signal, home)
  await ensureNamespace(person, shop, signal)
  await cluster.run({ limitMs: 10_000 })
  await deploy(person, random, machines, signal)
  const reported = () => cluster.server.peekAll(nodeStates).filter(({ status }) => status?.agent).length
  await cluster.run({ limitMs: 300_000, until: () => reported() === machines.length })
  await disturb(cluster, person, random, machines, signal)
  await cluster.run({ limitMs: 120_000 })
  return { cluster, person, update: { name: 'planned', spec: inventedUpdate(random) } }
}

function inventedNodes(random: SeededRandom): readonly NodeSpec[] {
  const controlPlane = random.pick([1, 1, 3] as const)
  const workers = random.whole(3, 10)
  const cpu = String(random.whole(2, 8))
  const pools = random.pick([1, 1, 2] as const)
  return Array.from({ length: controlPlane + workers }, (_, index) => {
    const isWorker = index >= controlPlane
    return {
      name: isWorker ? `w${index - controlPlane + 1}` : `cp${index + 1}`,
      role: isWorker ? 'worker' : 'control-plane',
      version: 'v1.35.4',
      zone: ['a', 'b', 'c'][index % 3] ?? 'a',
      labels: { [hostname]: isWorker ? `w${index - controlPlane + 1}` : `cp${index + 1}`, pool: `p${index % pools}` },
      allocatable: { cpu, memory: '16Gi' },
    }
  })
}

/** Together they ask for a drawn share of all there is. */
async function deploy(api: KubeApi, random: SeededRandom, machines: readonly NodeSpec[], signal: AbortSignal) {
  const workers = machines.filter(({ role }) => role === 'worker')
  const total = workers.length * Number(workers[0]?.allocatable?.cpu ?? 4)
  const fill = random.between(0.2, 0.92)
  let left = total * fill
  for (let index = 0; left > 0 && index < 40; index++) {
    const replicas = random.whole(1, Math.min(6, workers.length))
    const milli = random.pick([100, 250, 500, 1000, 1500] as const)
    left -= (replicas * milli) / 1000
    const pod: Partial<PodSpec> = {
      containers: [{ name: 'main', image: 'pretend', resources: { requests: { cpu: `${milli}m` } } }],
      ...(random.chance(0.1) && { nodeSelector: { pool: 'p0' } }),
      ...(random.chance(0.08) && { nodeSelector: { [hostname]: random.pick(workers)?.name ?? '' } }),
      ...(random.chance(0.12) && { affinity: apart(`app-${index}`) }),
    }
    const budget = random.chance(0.45) ? inventedBudget(random, replicas) : {}
    if (random.chance(0.15)) await createSet(api, `app-${index}`, replicas, pod, budget, signal)
    else await createWorkload(api, { namespace: shop, name: `app-${index}`, replicas, pod, ...budget }, signal)
  }
}

function inventedBudget(random: SeededRandom, replicas: number) {
  const kind = random.whole(1, 16)
  if (kind === 1) return { maxUnavailable: 0 }
  if (kind === 2) return { minAvailable: replicas }
  if (kind <= 6) return { minAvailable: Math.max(0, replicas - 1) }
  if (kind <= 9) return { maxUnavailable: '50%' }
  return { maxUnavailable: 1 }
}

function apart(app: string): NonNullable<PodSpec['affinity']> {
  const term = { topologyKey: hostname, labelSelector: { matchLabels: { app } } }
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
}

async function createSet(
  api: KubeApi,
  name: string,
  replicas: number,
  pod: Partial<PodSpec>,
  budget: object,
  signal: AbortSignal,
): Promise<void> {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [], ...pod } }
  const spec = { replicas, serviceName: name, selector: { matchLabels: labels }, template }
  await api.create(statefulSets, { metadata: { name, namespace: shop, labels }, spec }, signal)
  if (Object.keys(budget).length === 0) return
  const about = { selector: { matchLabels: labels }, ...budget }
  await api.create(podDisruptionBudgets, { metadata: { name, namespace: shop }, spec: about }, signal)
}

async function disturb(
  cluster: SimCluster,
  api: KubeApi,
  random: SeededRandom,
  machines: readonly NodeSpec[],
  signal: AbortSignal,
): Promise<void> {
  const workers = machines.filter(({ role }) => role === 'worker').map(({ name }) => name)
  const some = () => random.pick(workers) ?? ''
  if (random.chance(0.15)) {
    const spec = { nodeName: some(), containers: [{ name: 'main', image: 'pretend' }] }
    await api.create(pods, { metadata: { name: 'lonely', namespace: shop }, spec }, signal)
  }
  if (random.chance(0.1)) {
    const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'app-0' } } }
    for (const name of ['twin-a', 'twin-b'])
      await api.create(podDisruptionBudgets, { metadata: { name, namespace: shop }, spec }, signal)
  }
  if (random.chance(0.1)) cluster.machine(some()).losePower()
  if (random.chance(0.1)) {
    await api.patch(nodes, { name: some() }, { type: 'merge', body: { spec: { unschedulable: true } } }, signal)
  }
  if (random.chance(0.2)) {
    const body = { spec: { budgets: [{ maxUnavailable: random.whole(1, 3) }] } }
    await api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
  }
}

function inventedUpdate(random: SeededRandom): DirectUpdateSpec {
  const sha256 = '0'.repeat(64)
  const work = random.pick<DirectUpdateSpec>([
    { kubernetes: { version: 'v1.36.3' } },
    { script: { configMap: 'rotate', sha256 } },
    { os: { packages: 'Security' } },
    { reboot: 'Always' },
    { kubernetes: { version: 'v1.34.1' } },
  ])
  const whole = work.kubernetes !== undefined && !random.chance(0.2)
  return {
    ...work,
    ...(random.chance(0.15) && !whole && { nodeSelector: { matchLabels: { pool: 'p0' } } }),
    strategy: { maxUnavailable: random.pick<number | string>([1, 1, 2, '30%']) },
    drain: { timeout: '10m', ...(random.chance(0.2) && { unmanagedPods: 'Delete' }) },
  }
}

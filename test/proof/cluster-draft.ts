// Clusters as users have them, drawn from a seed: pools and zones, workloads with and without budgets, tight and roomy ones, pods
// that nothing would make again, nodes that are down or held by a person, budgets of ours, another tool's lock; and an update.

import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { PodSpec } from '../../src/api/kube.ts'
import type { MaintenancePolicySpec } from '../../src/api/maintenance-policy.ts'
import type { NodeProfileSpec } from '../../src/api/node-profile.ts'
import { kuredPlace } from '../../src/sim/kured.ts'
import { SeededRandom } from '../../src/sim/seeded-random.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { hostname, type Pace } from './drawn-names.ts'
import { draftUpdate } from './update-draft.ts'

type Range = readonly [number, number]

export interface ClusterDraft {
  readonly machines: readonly NodeSpec[]
  readonly operators: { readonly replicas: number; readonly home?: string }
  readonly workloads: readonly WorkloadDraft[]
  readonly policy: MaintenancePolicySpec
  readonly kured?: 'free' | 'held'
  readonly profile?: NodeProfileSpec
  /** The node of a pod that nothing would make again. */
  readonly lonely?: string
  /** The first workload is under two budgets more. */
  readonly twins: boolean
  readonly down?: string
  readonly cordoned?: string
  readonly update: DirectUpdateSpec
  readonly workMs: Range
  readonly podStartMs: Range
  readonly podStopMs: Range
}

export interface WorkloadDraft {
  readonly kind: 'Deployment' | 'StatefulSet' | 'Job'
  readonly name: string
  readonly replicas: number
  readonly pod: Partial<PodSpec>
  readonly budget?: { readonly maxUnavailable: number | string } | { readonly minAvailable: number }
  /** Its one pod has a volume that must be detached. */
  readonly volume: boolean
}

export function draftCluster(seed: number, pace: Pace): ClusterDraft {
  const random = new SeededRandom(`preview/${pace}/${seed}`)
  const machines = draftMachines(random, pace)
  const workers = machines.filter(({ role }) => role === 'worker')
  const home = random.chance(0.6) ? machines[0]?.name : undefined
  const some = (probability: number) => (random.chance(probability) ? random.pick(workers)?.name : undefined)
  const kured = random.chance(0.15) ? (random.chance(0.3) ? 'held' : 'free') : undefined
  const lonely = some(0.15)
  const down = some(pace === 'real' ? 0.05 : 0.1)
  const cordoned = some(0.1)
  const update = draftUpdate(random, workers, pace)
  return {
    machines,
    operators: home === undefined ? { replicas: random.pick([1, 2]) } : { replicas: 1, home },
    workloads: draftWorkloads(random, workers, pace),
    policy: draftPolicy(random, kured !== undefined),
    ...(kured && { kured }),
    ...(update.profile !== undefined && { profile: draftProfile(random) }),
    ...(lonely !== undefined && { lonely }),
    twins: random.chance(0.1),
    ...(down !== undefined && { down }),
    ...(cordoned !== undefined && { cordoned }),
    update,
    workMs: [random.between(10_000, 60_000), random.between(60_000, 240_000)],
    podStartMs: [random.between(200, 2_000), random.between(2_000, pace === 'real' ? 3_000 : 20_000)],
    podStopMs: [random.between(200, 2_000), random.between(2_000, pace === 'real' ? 3_000 : 15_000)],
  }
}

function draftMachines(random: SeededRandom, pace: Pace): readonly NodeSpec[] {
  const controlPlane = random.pick([1, 1, 3])
  const workers = pace === 'real' ? random.whole(3, 6) : random.whole(3, 10)
  const cpu = String(random.whole(2, 8))
  const pools = random.pick([1, 1, 2])
  return Array.from({ length: controlPlane + workers }, (_, index) => {
    const isWorker = index >= controlPlane
    const name = isWorker ? `w${index - controlPlane + 1}` : `cp${index + 1}`
    return {
      name,
      role: isWorker ? 'worker' : 'control-plane',
      version: 'v1.35.4',
      zone: ['a', 'b', 'c'][index % 3] ?? 'a',
      labels: { [hostname]: name, pool: `p${index % pools}` },
      allocatable: { cpu, memory: '16Gi' },
    }
  })
}

/** Together they ask for a drawn share of all there is. */
function draftWorkloads(random: SeededRandom, workers: readonly NodeSpec[], pace: Pace): readonly WorkloadDraft[] {
  const perNode = Number(workers[0]?.allocatable?.cpu ?? 4)
  let left = workers.length * perNode * random.between(0.2, 0.92)
  const drafts: WorkloadDraft[] = []
  while (left > 0 && drafts.length < 40) {
    const kind = random.chance(0.15) ? 'StatefulSet' : random.chance(0.05) ? 'Job' : 'Deployment'
    const volume = kind === 'StatefulSet' && pace === 'virtual' && random.chance(0.5)
    const replicas = volume || kind === 'Job' ? 1 : random.whole(1, Math.min(6, workers.length))
    const milli = random.pick([100, 250, 500, 1000, 1500])
    left -= (replicas * milli) / 1000
    const budget = random.chance(0.45) ? draftBudget(random, replicas) : undefined
    const name = `app-${drafts.length}`
    drafts.push({
      kind,
      name,
      replicas,
      pod: draftPod(random, workers, name, milli),
      volume,
      ...(budget && { budget }),
    })
  }
  return drafts
}

function draftPod(random: SeededRandom, workers: readonly NodeSpec[], name: string, milli: number): Partial<PodSpec> {
  const term = { topologyKey: hostname, labelSelector: { matchLabels: { app: name } } }
  return {
    containers: [{ name: 'main', image: 'pretend', resources: { requests: { cpu: `${milli}m` } } }],
    ...(random.chance(0.1) && { nodeSelector: { pool: 'p0' } }),
    ...(random.chance(0.08) && { nodeSelector: { [hostname]: random.pick(workers)?.name ?? '' } }),
    ...(random.chance(0.12) && {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    }),
    ...(random.chance(0.08) && {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: name } },
        },
      ],
    }),
    ...(random.chance(0.1) && { volumes: [{ name: 'scratch', emptyDir: {} }] }),
  }
}

function draftBudget(random: SeededRandom, replicas: number): NonNullable<WorkloadDraft['budget']> {
  const kind = random.whole(1, 16)
  if (kind === 1) return { maxUnavailable: 0 }
  if (kind === 2) return { minAvailable: replicas }
  if (kind <= 6) return { minAvailable: Math.max(0, replicas - 1) }
  if (kind <= 9) return { maxUnavailable: '50%' }
  return { maxUnavailable: 1 }
}

function draftPolicy(random: SeededRandom, hasKured: boolean): MaintenancePolicySpec {
  const budgets = random.pick<NonNullable<MaintenancePolicySpec['budgets']> | undefined>([
    ...[undefined, undefined, undefined],
    [{ maxUnavailable: random.whole(1, 3) }],
    [{ per: 'topology.kubernetes.io/zone', maxUnavailable: 1 }],
    [{ nodeSelector: { matchLabels: { pool: 'p0' } }, maxUnavailable: 1 }, { maxUnavailable: '50%' }],
  ])
  return {
    ...(budgets && { budgets }),
    ...(hasKured && { locks: [{ type: 'Kured', daemonSet: kuredPlace }] }),
    ...(random.chance(0.1) && { gates: [{ type: 'NodeReady', timeout: '2m' }] }),
    ...(random.chance(0.1) && { taintWhileWaiting: true }),
  }
}

function draftProfile(random: SeededRandom): NodeProfileSpec {
  return {
    rollout: 'ByUpdate',
    ...random.pick<Partial<NodeProfileSpec>>([
      { sysctls: { 'vm.max_map_count': '262144' } },
      { files: [{ path: '/etc/example.conf', content: 'a = 1\n', restarts: ['kubelet.service'] }] },
      { files: [{ path: '/etc/token', secret: { name: 'token', key: 'value' } }], disruption: 'Drain' },
      { kernelArguments: { add: ['quiet'] } },
    ]),
  }
}

// One rollout on an invented cluster, from nothing to its end, and what it came to.

import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { type Node, nodes } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { RolloutFigures } from '../../cli/dependencies.ts'
import type { RolloutSnapshot } from '../../cli/progress/sink.ts'
import { resolveCount } from '../../core/count.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import type { NodeSpec } from '../../sim/sim-machine.ts'
import { createOperatorPods, createWorkload, ensureNamespace } from '../../sim/workloads.ts'
import { DrawnTimes } from './drawn-times.ts'
import { type SimulatedCluster, type SimulationOptions, simulatedCluster } from './simulated-cluster.ts'

const updateName = 'to-1-36'
const versions = { from: 'v1.35.4', to: 'v1.36.3' }
const podsPerWorkload = 50
/** Time for a cluster to come up, and more than any rollout needs. */
const limits = { startMs: 600_000, rolloutMs: 30 * 24 * 3_600_000 }
const finished = new Set(['Succeeded', 'Failed', 'RequiresAttention'])

export interface RolloutOptions {
  readonly nodes: number
  readonly podsPerNode: number
  readonly seed: number
  readonly maxUnavailable: number | string
  readonly log: Log
  readonly version: string
  readonly cluster?: Partial<SimulationOptions>
}

export class Rollout {
  readonly simulated: SimulatedCluster
  readonly person: KubeApi
  readonly #options: RolloutOptions
  readonly #drawn: DrawnTimes
  readonly #signal: AbortSignal
  #startedMs = 0
  #requestsBefore = 0

  constructor(options: RolloutOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.simulated = simulatedCluster({
      seed: options.seed,
      nodes: inventedNodes(options.nodes),
      latencyMs: [5, 50],
      // Nobody reads the Leases of idle nodes; the node controller waits for 40 s.
      leaseEveryMs: 30_000,
      slack: { staleMs: 2_000, requestMs: 1_000 },
      log: options.log,
      version: options.version,
      ...options.cluster,
    })
    this.#drawn = new DrawnTimes(this.simulated.cluster)
    this.person = this.simulated.cluster.client('person')
  }

  /** Powers the cluster on and waits until its workload runs and the agents have reported. */
  async bringUp(): Promise<void> {
    const { cluster } = this.simulated
    cluster.start()
    await createOperatorPods(this.person, 2, this.#signal)
    await ensureNamespace(this.person, 'shop', this.#signal)
    const pods = this.#options.nodes * this.#options.podsPerNode
    for (let made = 0; made < pods; made += podsPerWorkload) {
      const replicas = Math.min(podsPerWorkload, pods - made)
      const index = made / podsPerWorkload
      // As in most clusters, some workloads have a budget and many have none.
      const budget = index % 5 === 0 ? { maxUnavailable: '50%' } : {}
      const workload = { namespace: 'shop', name: `web-${index + 1}`, replicas, ...budget }
      await createWorkload(this.person, workload, this.#signal)
    }
    const reported = () => {
      let agents = 0
      for (const state of cluster.server.peekAll(nodeStates)) if ((state as NodeState).status?.agent) agents++
      return agents === this.#options.nodes
    }
    await cluster.run({ limitMs: limits.startMs, until: sparsely(cluster, reported) })
    await cluster.run({ limitMs: 30_000 })
  }

  async start(spec: Partial<DirectUpdateSpec> = {}): Promise<void> {
    const { cluster } = this.simulated
    this.#startedMs = cluster.clock.monotonicMs()
    this.#requestsBefore = this.#requests()
    this.#drawn.begin()
    const { apiVersion, kind } = directUpdates
    await this.person.create(
      directUpdates,
      {
        apiVersion,
        kind,
        metadata: { name: updateName },
        spec: {
          kubernetes: { version: versions.to },
          strategy: { maxUnavailable: this.#options.maxUnavailable },
          ...spec,
        },
      },
      this.#signal,
    )
  }

  /** Runs until the update is over, at most for so long; true when it is. */
  async advance(limitMs: number = limits.rolloutMs): Promise<boolean> {
    await this.simulated.cluster.run({ limitMs, until: () => this.#signal.aborted || this.isOver() })
    return this.isOver()
  }

  isOver(): boolean {
    return finished.has(this.update?.status?.phase ?? '')
  }

  get update(): DirectUpdate | undefined {
    return this.simulated.cluster.server.peek(directUpdates, { name: updateName }) as DirectUpdate | undefined
  }

  snapshot(): RolloutSnapshot | undefined {
    const { server, clock } = this.simulated.cluster
    const { update } = this
    if (!update) return undefined
    return {
      now: clock.now(),
      update,
      nodes: [...server.peekAll(nodes)] as readonly Node[],
      nodeStates: [...server.peekAll(nodeStates)] as readonly NodeState[],
      policy: server.peek(maintenancePolicies, { name: policyName }) as RolloutSnapshot['policy'],
      inMemory: true,
    }
  }

  figures(): RolloutFigures {
    const { cluster, rules } = this.simulated
    const { nodes: total, seed, maxUnavailable } = this.#options
    const phase = this.update?.status?.phase ?? 'Pending'
    if (phase === 'Succeeded') rules.atRest(cluster.clock.monotonicMs())
    const workers = [...cluster.machines.values()].filter(({ node }) => node.role === 'worker').length
    const makespanSeconds = (cluster.clock.monotonicMs() - this.#startedMs) / 1000
    const idealSeconds = this.#drawn.idealSeconds(resolveCount(maxUnavailable, workers))
    return {
      phase,
      nodes: total,
      violations: rules.violations.map(({ rule, message }) => ({ seed, rule: String(rule), message })),
      makespanSeconds,
      idealSeconds,
      ratio: makespanSeconds / idealSeconds,
      requestsPerNode: (this.#requests() - this.#requestsBefore) / total,
      seed,
    }
  }

  /** Of ours alone, evictions aside: those are one for each pod, whoever drains. */
  #requests(): number {
    const ours = (client: string) => client.startsWith('operator/') || client.startsWith('agent/')
    const { counter } = this.simulated.cluster
    return counter.total(ours) - counter.total(ours, 'evict')
  }
}

/** Three control-plane nodes where there are enough, one otherwise; a single node is both. */
export function inventedNodes(count: number): readonly NodeSpec[] {
  const controlPlane = count >= 6 ? 3 : 1
  const zones = ['a', 'b', 'c']
  return Array.from({ length: count }, (_, index) => ({
    name: index < controlPlane ? `cp${index + 1}` : `w${index - controlPlane + 1}`,
    role: index < controlPlane ? 'control-plane' : 'worker',
    version: versions.from,
    zone: zones[index % zones.length] ?? 'a',
  }))
}

/** Looks at most every virtual half second: the predicate walks over all nodes. */
function sparsely({ clock }: SimulatedCluster['cluster'], holds: () => boolean): () => boolean {
  let nextMs = 0
  return () => {
    if (clock.monotonicMs() < nextMs) return false
    nextMs = clock.monotonicMs() + 500
    return holds()
  }
}

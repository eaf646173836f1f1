// Trouble that strikes a machine, the API server or a process as a whole. Each strikes once or twice: when some node enters
// a drawn phase, so that every phase gets its share, or after a drawn time if none ever does.

import { leases, nodes } from '../../api/kube.ts'
import { type NodePhase, type NodeState, nodeStates } from '../../api/node-state.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { CommittedChange } from '../server/object-store.ts'
import type { SimCluster } from '../sim-cluster.ts'
import { operatorNamespace } from '../workloads.ts'
import type { FaultKind } from './fault-kinds.ts'

export interface TroubleOptions {
  readonly cluster: SimCluster
  readonly random: SeededRandom
  readonly kinds: readonly FaultKind[]
  readonly hit: (kind: FaultKind, node: string | undefined) => void
}

interface Strike {
  readonly kind: FaultKind
  readonly phase: NodePhase
  done: boolean
}

const phases = ['Draining', 'Assigned', 'Working', 'Verifying', 'Done'] as const
const latestMs = 600_000

export class ClusterTrouble {
  readonly #options: TroubleOptions
  readonly #strikes: Strike[]
  #armed = false
  #apiAwayUntilMs = 0

  constructor(options: TroubleOptions) {
    this.#options = options
    const { random, kinds, cluster } = options
    this.#strikes = kinds.flatMap((kind) =>
      Array.from({ length: random.whole(1, 2) }, () => ({ kind, phase: random.pick(phases), done: false })),
    )
    if (this.#strikes.length > 0) cluster.server.onCommit((change) => this.#noteCommit(change))
  }

  get isApiAway(): boolean {
    return this.#options.cluster.clock.monotonicMs() < this.#apiAwayUntilMs
  }

  arm(): void {
    this.#armed = true
    const { cluster, random } = this.#options
    for (const strike of this.#strikes) {
      cluster.clock.after(random.between(1_000, latestMs), () => this.#strike(strike, this.#someNode()))
    }
  }

  disarm(): void {
    this.#armed = false
    this.#apiAwayUntilMs = 0
  }

  #noteCommit({ kind, before, after }: CommittedChange): void {
    if (!this.#armed || kind !== 'NodeState' || !after) return
    const phase = (after as NodeState).status?.rollout?.phase
    if (phase === undefined || phase === (before as NodeState | undefined)?.status?.rollout?.phase) return
    const strike = this.#strikes.find((one) => !one.done && one.phase === phase)
    if (!strike || !this.#options.random.chance(0.5)) return
    const { name } = after.metadata
    this.#options.cluster.clock.after(this.#options.random.between(0, 3_000), () => this.#strike(strike, name))
  }

  #strike(strike: Strike, node: string | undefined): void {
    if (!this.#armed || strike.done) return
    strike.done = this.#happen(strike.kind, node)
    if (strike.done) this.#options.hit(strike.kind, node)
  }

  #happen(kind: FaultKind, node: string | undefined): boolean {
    const { cluster, random } = this.#options
    const machine = node === undefined ? undefined : cluster.machines.get(node)
    switch (kind) {
      case 'api-outage':
        this.#apiAwayUntilMs = cluster.clock.monotonicMs() + random.between(5_000, 180_000)
        for (const process of cluster.clients()) process.breakWatches()
        return true
      case 'power-loss':
        machine?.losePowerFor(random.between(5_000, 40_000))
        return machine !== undefined
      case 'node-death':
        machine?.losePowerFor(random.between(120_000, 900_000))
        return machine !== undefined
      case 'node-deleted':
        return this.#deleteNode(node)
      case 'slow-node':
        machine?.host.slowDown(random.between(3, 20))
        return machine !== undefined
      case 'clock-skew':
        machine?.setSkew(random.between(-1_800_000, 1_800_000))
        return machine !== undefined
      case 'lease-stolen':
        return this.#stealLease()
      case 'operator-frozen': {
        const leader = this.#leader()
        leader?.freeze(random.between(16_000, 60_000))
        return leader !== undefined
      }
      default:
        return false
    }
  }

  /** The machine is gone for good, and somebody cleans its Node up. */
  #deleteNode(node: string | undefined): boolean {
    const { cluster } = this.#options
    if (node === undefined || cluster.machines.size < 3 || !cluster.server.peek(nodes, { name: node })) return false
    cluster.machines.get(node)?.losePower()
    cluster.server.delete('person', nodes, { name: node }, {})
    return true
  }

  #stealLease(): boolean {
    const { cluster } = this.#options
    const ref = { name: leaseName, namespace: operatorNamespace }
    if (!cluster.server.peek(leases, ref)) return false
    const now = cluster.clock.now().toISOString()
    const spec = { holderIdentity: 'thief', renewTime: now, acquireTime: now, leaseDurationSeconds: 15 }
    cluster.server.patch('thief', leases, ref, { type: 'merge', body: { spec } })
    return true
  }

  #leader() {
    const { cluster } = this.#options
    const lease = cluster.server.peek(leases, { name: leaseName, namespace: operatorNamespace })
    const holder = String((lease as { spec?: { holderIdentity?: string } } | undefined)?.spec?.holderIdentity ?? '')
    return cluster.programs().find(({ name }) => holder.startsWith(`${name.slice(name.indexOf('/') + 1)}_`))
  }

  #someNode(): string | undefined {
    const { cluster, random } = this.#options
    const busy = [...cluster.server.peekAll(nodeStates)].filter((state) => {
      const phase = (state as NodeState).status?.rollout?.phase
      return phase !== undefined && phase !== 'Done'
    })
    return random.pick(busy)?.metadata.name ?? random.pick([...cluster.machines.keys()])
  }
}

export const leaseName = 'slipway-operator'

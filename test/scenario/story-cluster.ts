// The cluster of a story: lets time pass until something has happened, and shows what the API and the machines say then.

import { directUpdates } from '../../src/api/direct-update.ts'
import { events, type KubeEvent, type Node, nodes } from '../../src/api/kube.ts'
import { type Ledger, maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { type NodePhase, type NodeState, nodeStates, type Rollout } from '../../src/api/node-state.ts'
import { cordonAnnotation } from '../../src/core/node/node-facts.ts'
import type { SimulatedCluster } from '../../src/main/simulation/simulated-cluster.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import type { SimMachine } from '../../src/sim/sim-machine.ts'

/** Longer than anything takes that goes on by itself, and shorter than the deadlines, which would hide a lost wake-up. */
const patienceMs = 600_000

export class StoryCluster {
  readonly sim: SimCluster
  /** Nodes on which scripts fail, and upgrades of the control plane. */
  readonly failing = new Set<string>()

  constructor({ cluster }: SimulatedCluster) {
    this.sim = cluster
  }

  async pass(ms: number): Promise<void> {
    await this.sim.run({ limitMs: ms })
  }

  /** Lets time pass until it holds; the story fails when it never does. */
  async until(what: string, holds: () => boolean, limitMs = patienceMs): Promise<void> {
    const end = await this.sim.run({ limitMs, until: holds })
    if (end !== 'until') throw new Error(`never came: ${what}; ${this.describe()}`)
  }

  /** Until the node's rollout is in this phase, with this reason where one is asked for. */
  async nodeIs(name: string, phase: NodePhase, reason?: string): Promise<Rollout> {
    const rollout = () => this.state(name)?.status?.rollout
    await this.until(`${name} is ${phase} ${reason ?? ''}`, () => {
      const now = rollout()
      return now?.phase === phase && (reason === undefined || now.reason?.code === reason)
    })
    const found = rollout()
    if (!found) throw new Error(`${name} has no rollout`)
    return found
  }

  machine(name: string): SimMachine {
    return this.sim.machine(name)
  }

  get names(): readonly string[] {
    return this.sim.server.peekAll(nodes).map(({ metadata }) => metadata.name)
  }

  node(name: string): Node | undefined {
    return this.sim.server.peek(nodes, { name })
  }

  state(name: string): NodeState | undefined {
    return this.sim.server.peek(nodeStates, { name })
  }

  isCordoned(name: string): boolean {
    return this.node(name)?.spec.unschedulable === true
  }

  /** The nodes that carry our cordon. */
  get taken(): readonly string[] {
    return this.names.filter((name) => this.node(name)?.metadata.annotations?.[cordonAnnotation] !== undefined)
  }

  get ledger(): Ledger {
    return this.sim.server.peek(maintenancePolicies, { name: policyName })?.status?.ledger ?? { epoch: 0, grants: [] }
  }

  /** How often a script was started on the node. */
  runs(name: string): number {
    return this.sim.machine(name).host.executions.filter(({ step }) => step === 'script').length
  }

  /** The same for every machine, by name. */
  get allRuns(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.sim.machines.keys()].map((name) => [name, this.runs(name)]))
  }

  /** The reasons of the Events about an object, oldest first. */
  told(kind: string, name: string): readonly string[] {
    return (this.sim.server.peekAll(events) as readonly KubeEvent[])
      .filter(({ regarding }) => regarding.kind === kind && regarding.name === name)
      .sort((a, b) => a.eventTime.localeCompare(b.eventTime))
      .map(({ reason }) => reason)
  }

  describe(): string {
    const { server, clock } = this.sim
    const updates = server.peekAll(directUpdates).map(({ metadata, status }) => {
      const conditions = status?.conditions?.map(({ type, status: holds, message }) => `${type}=${holds} ${message}`)
      return `${metadata.name} is ${status?.phase} ${status?.progress ?? ''} [${conditions?.join('; ')}]`
    })
    const states = server.peekAll(nodeStates).map(({ metadata, status }) => {
      const { rollout, agent } = status ?? {}
      return `${metadata.name} ${rollout?.phase} ${rollout?.reason?.message ?? ''} (agent: ${agent?.order?.state})`
    })
    return `after ${Math.round(clock.monotonicMs() / 1000)} s: ${[...updates, ...states].join('\n')}`
  }
}

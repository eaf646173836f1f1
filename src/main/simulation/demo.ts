// The story `slipway demo` tells: an upgrade of a small cluster that meets a budget that blocks, an operator that is killed
// and a machine that loses power in the middle of its work; and it finishes correctly.

import { directUpdates } from '../../api/direct-update.ts'
import { deployments } from '../../api/kube.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'
import { nodeStates } from '../../api/node-state.ts'
import { approve } from '../../core/steering/decide-steering.ts'
import { createWorkload } from '../../sim/workloads.ts'
import type { Rollout } from './rollout.ts'

const shop = 'shop'
const checkout = 'checkout'
const powerlessMs = 20_000

export interface StoryPace {
  /** How long the blocked budget is left to be looked at. */
  readonly blockedForMs: number
  /** How long a wave waits before somebody approves it, where nobody at the console has. */
  readonly approvesAfterMs: number
}

/** Something that happens once, when its moment has come. Returns what to tell, or nothing while it has not. */
type Incident = () => Promise<string | undefined>

export class DemoStory {
  readonly #rollout: Rollout
  readonly #pace: StoryPace
  readonly #signal: AbortSignal
  #open: Incident[]
  #blockedSinceMs: number | undefined
  #wantedSinceMs: number | undefined

  constructor(rollout: Rollout, pace: StoryPace, signal: AbortSignal) {
    this.#rollout = rollout
    this.#pace = pace
    this.#signal = signal
    this.#open = [
      ...[() => this.#killOperator(), () => this.#cutPower()],
      ...[() => this.#tightenBudget(), () => this.#relieveBudget()],
    ]
  }

  /** Of three pods two must be there: nothing of it can be evicted once somebody takes the third away. */
  async prepare(): Promise<void> {
    const { person, simulated } = this.#rollout
    await createWorkload(person, { namespace: shop, name: checkout, replicas: 3, minAvailable: 2 }, this.#signal)
    await simulated.cluster.run({ limitMs: 20_000 })
  }

  /** Lets happen what is due; what is to be told of it. */
  async proceed(): Promise<readonly string[]> {
    const told: string[] = []
    const left: Incident[] = []
    for (const incident of this.#open) {
      const note = await incident()
      if (note === undefined) left.push(incident)
      else told.push(note)
    }
    this.#open = left
    const approved = await this.#approve()
    return approved === undefined ? told : [...told, approved]
  }

  async #killOperator(): Promise<string | undefined> {
    const { cluster } = this.#rollout.simulated
    const busy = this.#statesIn('Draining', 'Working')
    if (this.#done() < 2 || busy.length === 0) return undefined
    const [leader] = cluster.programs()
    if (!leader) return undefined
    leader.crash()
    return `${leader.name} is killed (SIGKILL) while ${busy.map(({ metadata }) => metadata.name).join(', ')} is under work`
  }

  async #cutPower(): Promise<string | undefined> {
    const { cluster } = this.#rollout.simulated
    const victim = this.#statesIn('Working').find(({ metadata }) => metadata.name.startsWith('w'))
    const busySinceMs = victim?.status?.rollout && Date.parse(victim.status.rollout.since)
    if (!victim || busySinceMs === undefined || cluster.clock.now().getTime() - busySinceMs < 8_000) return undefined
    cluster.machine(victim.metadata.name).losePowerFor(powerlessMs)
    return `${victim.metadata.name} loses power in the middle of its work and boots again`
  }

  async #tightenBudget(): Promise<string | undefined> {
    if (this.#done() < 3) return undefined
    await this.#scale(2)
    return `a person scales ${shop}/${checkout} down to two replicas, and its budget wants two`
  }

  async #relieveBudget(): Promise<string | undefined> {
    const { simulated } = this.#rollout
    const blocked = this.#statesIn('Draining').some(
      ({ status }) => status?.rollout?.reason?.code === 'PodDisruptionBudget',
    )
    const nowMs = simulated.cluster.clock.monotonicMs()
    if (!blocked) return undefined
    this.#blockedSinceMs ??= nowMs
    if (nowMs - this.#blockedSinceMs < this.#pace.blockedForMs) return undefined
    await this.#scale(3)
    return `a person gives ${shop}/${checkout} a third replica, so that its budget allows a disruption`
  }

  /** As often as a wave waits for it. */
  async #approve(): Promise<string | undefined> {
    const { update, simulated } = this.#rollout
    const { clock } = simulated.cluster
    if (!update?.status?.wave?.promotion) {
      this.#wantedSinceMs = undefined
      return undefined
    }
    this.#wantedSinceMs ??= clock.monotonicMs()
    if (clock.monotonicMs() - this.#wantedSinceMs < this.#pace.approvesAfterMs) return undefined
    this.#wantedSinceMs = undefined
    const { spec, said } = approve('a colleague', clock.now())(update)
    const ref = { name: update.metadata.name }
    await this.#rollout.person.patch(directUpdates, ref, { type: 'merge', body: { spec } }, this.#signal)
    return said
  }

  async #scale(replicas: number): Promise<void> {
    const patch = { type: 'merge', body: { spec: { replicas } } } as const
    await this.#rollout.person.patch(deployments, { name: checkout, namespace: shop }, patch, this.#signal)
  }

  #statesIn(...phases: readonly NodePhase[]): readonly NodeState[] {
    const states = [...this.#rollout.simulated.cluster.server.peekAll(nodeStates)] as readonly NodeState[]
    return states.filter(({ status }) => status?.rollout && phases.includes(status.rollout.phase))
  }

  #done(): number {
    return this.#rollout.update?.status?.summary?.done ?? 0
  }
}

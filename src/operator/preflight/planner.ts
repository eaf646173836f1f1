// Plans an update: first by what the watches know, which costs nothing; only what passes that is worth a look at all pods.

import type { DirectUpdate } from '../../api/direct-update.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { type Plan, type PlanView, planUpdate } from '../../core/plan/plan-update.ts'
import { isChosen } from '../../core/update/is-chosen.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import { observe } from './observe.ts'

export interface PlannerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly serverVersion: string
  readonly version: string
}

export type Contents = Pick<PlanView, 'scriptSha256' | 'validation'>

/** The cluster was looked at a moment ago and did not let the update start. */
export interface Later {
  readonly verdict: 'later'
  readonly afterMs: number
}

const lookEveryMs = 15_000
/** In a large cluster a look takes long; it takes at most a twentieth of the time. */
const restPerLook = 20

export class Planner {
  readonly #options: PlannerOptions
  /** When an update that was refused may be looked at again, unless it is edited. Lost with the leader: then at once. */
  readonly #due = new Map<string, { readonly generation: number | undefined; readonly atMs: number }>()

  constructor(options: PlannerOptions) {
    this.#options = options
  }

  async plan(update: DirectUpdate, contents: Contents, signal: AbortSignal): Promise<Plan | Later> {
    const { ports, serverVersion } = this.#options
    const { clock } = ports
    const { name, generation } = update.metadata
    const first = planUpdate(this.#view(update, contents))
    // What the checks alone refuse is looked at in full, so that all of it is told at once.
    if (first.verdict === 'refused' && first.reason.code !== 'PreflightFailed') return first
    const due = this.#due.get(name)
    const startedMs = clock.monotonicMs()
    if (due?.generation === generation && due && startedMs < due.atMs) {
      return { verdict: 'later', afterMs: due.atMs - startedMs }
    }
    const { spec } = update
    const concerns = (name: string) => {
      const node = this.#options.cluster.nodes.get(name)
      return node !== undefined && isChosen(spec, node)
    }
    const drain = drainOf(this.#options.cluster.policy?.spec.drain, spec.drain)
    const sights = await observe(ports, { spec, serverVersion, concerns, drain }, signal)
    const plan = planUpdate({ ...this.#view(update, contents), sights })
    const endedMs = clock.monotonicMs()
    const restMs = Math.max(lookEveryMs, restPerLook * (endedMs - startedMs))
    if (plan.verdict === 'refused') this.#due.set(name, { generation, atMs: endedMs + restMs })
    else this.forget(name)
    return plan
  }

  forget(update: string): void {
    this.#due.delete(update)
  }

  #view({ metadata, spec }: DirectUpdate, contents: Contents): PlanView {
    const { ports, cluster, serverVersion, version } = this.#options
    return {
      ...contents,
      spec,
      name: metadata.name,
      nodes: [...cluster.nodes.values()],
      stateOf: (node) => cluster.states.get(node),
      profiles: [...cluster.profiles.values()],
      policy: cluster.policy?.spec,
      serverVersion,
      operatorVersion: version,
      now: ports.clock.now(),
    }
  }
}

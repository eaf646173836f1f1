// Plans an update: first by what the watches know, which costs nothing; only what passes that is worth a look at all pods.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node, ObjectMeta } from '../../api/kube.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { resolvedFor } from '../../core/image/resolved-image.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type Plan, type PlanView, planUpdate, resolvedSpec, withVersion } from '../../core/plan/plan-update.ts'
import { isChosen } from '../../core/update/is-chosen.ts'
import { operationID } from '../../core/update/operation.ts'
import type { PathStep } from '../../core/update/path-step.ts'
import type { Offers } from '../../core/versions/offers.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { RegistryDesk } from '../registry/registry-desk.ts'
import { resolveImage } from '../registry/resolve-image.ts'
import type { ServerVersion } from '../server-version.ts'
import { observe } from './observe.ts'

export interface PlannerOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly serverVersion: ServerVersion
  readonly version: string
  /** Which versions there are, by others than the hosts. */
  readonly offers: (spec: DirectUpdateSpec, signal: AbortSignal) => Promise<Offers>
  /** Absent: what a tag names is not looked up. */
  readonly registries?: RegistryDesk
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

  plan(update: DirectUpdate, contents: Contents, signal: AbortSignal): Promise<Plan | Later> {
    return this.#plan(update.metadata, { ...this.#view(update), ...contents }, signal)
  }

  /** The checks again, before another step of its path: for the nodes that it takes, and the version they go to. */
  planStep(update: DirectUpdate, { version, takesWorkers }: PathStep, signal: AbortSignal): Promise<Plan | Later> {
    const { script: _, ...spec } = withVersion(update.spec, version)
    const takes = (node: Node) => takesWorkers || roleOf(node) === 'ControlPlane'
    const pathTarget = update.status?.path?.target
    return this.#plan(
      update.metadata,
      { ...this.#view(update), spec, takes, ...(pathTarget && { pathTarget }) },
      signal,
    )
  }

  async #plan({ name, generation }: ObjectMeta, view: PlanView, signal: AbortSignal): Promise<Plan | Later> {
    const { ports } = this.#options
    const { clock } = ports
    const { known, alone } = await this.#planAlone(view, signal)
    const asksOthers = alone.verdict === 'refused' ? alone.versions === true : reachesFarther(known.spec)
    // What the checks alone refuse is looked at in full, so that all of it is told at once.
    if (alone.verdict === 'refused' && alone.reason.code !== 'PreflightFailed' && !asksOthers) return alone
    if (alone.verdict === 'planned' && alone.idle && !asksOthers) return alone
    const due = this.#due.get(name)
    const startedMs = clock.monotonicMs()
    if (due?.generation === generation && due && startedMs < due.atMs) {
      return { verdict: 'later', afterMs: due.atMs - startedMs }
    }
    const rest = (plan: Plan, least: number = lookEveryMs): Plan => {
      const endedMs = clock.monotonicMs()
      const restMs = Math.max(least, restPerLook * (endedMs - startedMs))
      if (plan.verdict === 'refused') this.#due.set(name, { generation, atMs: endedMs + restMs })
      else this.forget(name)
      return plan
    }
    const told = asksOthers ? { ...known, offers: await this.#options.offers(known.spec, signal) } : known
    const first = asksOthers ? planUpdate(told) : alone
    if (first.verdict === 'refused' && first.reason.code !== 'PreflightFailed') return rest(first)
    if (first.verdict === 'planned' && first.idle) return rest(first)
    const spec = resolvedSpec(told)
    // What cannot be done with any image is told before a registry is asked.
    const asks = !told.osImage && first.verdict === 'planned'
    const image = asks
      ? await resolveImage(this.#options.registries, spec, () => clock.now(), signal)
      : ({ kind: 'found', image: told.osImage } as const)
    if (image?.kind === 'refused') {
      const { lasting, reason, afterMs = lookEveryMs } = image
      return rest({ verdict: 'refused', lasting, reason }, Math.max(afterMs, lookEveryMs))
    }
    const concerns = (name: string) => {
      const node = this.#options.cluster.nodes.get(name)
      return node !== undefined && isChosen(spec, node) && (told.takes?.(node) ?? true)
    }
    const drain = drainOf(this.#options.cluster.policy?.spec.drain, spec.drain)
    const sights = await observe(ports, { spec, serverVersion: known.serverVersion, concerns, drain }, signal)
    return rest(planUpdate({ ...told, sights, osImage: image?.image }))
  }

  /** By what the watches know. The version of the API server is none of that: it is read again before it refuses anything. */
  async #planAlone(
    view: PlanView,
    signal: AbortSignal,
  ): Promise<{ readonly known: PlanView; readonly alone: ReturnType<typeof planUpdate> }> {
    const alone = planUpdate(view)
    if (alone.verdict !== 'refused') return { known: view, alone }
    // What is refused for good is refused once; the rest is looked at again whenever a node changes.
    const serverVersion = await this.#options.serverVersion.renew(alone.lasting ? 0 : lookEveryMs, signal)
    const known = { ...view, serverVersion }
    return { known, alone: serverVersion === view.serverVersion ? alone : planUpdate(known) }
  }

  forget(update: string): void {
    this.#due.delete(update)
  }

  #view(update: DirectUpdate): PlanView {
    const { metadata, spec } = update
    const { ports, cluster, serverVersion, version } = this.#options
    return {
      spec,
      name: metadata.name,
      nodes: [...cluster.nodes.values()],
      stateOf: (node) => cluster.states.get(node),
      profiles: [...cluster.profiles.values()],
      policy: cluster.policy?.spec,
      serverVersion: serverVersion.version,
      operatorVersion: version,
      now: ports.clock.now(),
      osImage: resolvedFor(update, operationID(update)),
    }
  }
}

/** What lies beyond the minor version that the hosts are at, their index need not know. */
function reachesFarther({ kubernetes, airGapped }: DirectUpdateSpec): boolean {
  return kubernetes?.version === 'latest' && !airGapped
}

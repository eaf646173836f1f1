// Everything the console shows, kept in step with the API. A kind that this person may not list is left out and said so; an API
// that is away, or does not answer for what is shown, is said so, too, and asked again until it is back.

import type { TroubleView } from '../api/console-trouble.ts'
import { type DirectUpdate, directUpdates } from '../api/direct-update.ts'
import { type KubeObject, type Node, nodes, type ResourceType } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { type MaintenancePolicy, maintenancePolicies } from '../api/maintenance-policy.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { type ScheduledUpdate, scheduledUpdates, type UpdateSchedule, updateSchedules } from '../api/schedule.ts'
import { asSlipwayError } from '../core/failure.ts'
import { equalJson } from '../core/merge-patch.ts'
import { Reflector } from '../kube/reflector.ts'
import { Store } from '../kube/store.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { slimNode, slimState, withoutManagers } from './slim.ts'

export interface WatchDependencies {
  readonly api: KubeApi
  /** The time of this program. */
  readonly clock: Clock
  /** The time of the cluster: another one where that is simulated. */
  readonly clusterClock: Clock
  readonly random: Random
  readonly log: Log
}

/** Somebody looks at it: what is back is shown soon. */
const retryAtMostMs = 3_000
const probeMs = 1_500
/** Streams that have broken again and again for so long, though all questions were answered, are trouble. */
const brokenForMs = 5_000
/** A stream that has not broken for so long is well, though nothing came on it. */
const heldForMs = 10_000

interface Part {
  readonly type: ResourceType
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly isSynced: () => boolean
  readonly silentMs: () => number
}

interface Failing {
  readonly failure: unknown
  /** The first of those that came one upon the other. */
  readonly sinceMs: number
  readonly lastMs: number
}

export class ClusterWatch {
  readonly nodes = new Store<Node>()
  readonly states = new Store<NodeState>()
  readonly updates = new Store<DirectUpdate>()
  readonly policies = new Store<MaintenancePolicy>()
  readonly scheduled = new Store<ScheduledUpdate>()
  readonly schedules = new Store<UpdateSchedule>()
  readonly #deps: WatchDependencies
  readonly #parts: readonly Part[]
  readonly #failures = new Map<string, Failing>()
  readonly #listeners = new Set<() => void>()
  readonly #waiting = new Set<() => void>()
  #trouble: TroubleView | undefined
  #probing = false
  /** When a question of ours was last not answered. */
  #mutedMs = Number.NEGATIVE_INFINITY
  #signal: AbortSignal | undefined

  constructor(deps: WatchDependencies) {
    this.#deps = deps
    this.#parts = [
      this.#part(nodes, this.nodes, slimNode),
      this.#part(nodeStates, this.states, slimState),
      this.#part(directUpdates, this.updates, withoutManagers),
      this.#part(maintenancePolicies, this.policies, withoutManagers),
      this.#part(scheduledUpdates, this.scheduled, withoutManagers),
      this.#part(updateSchedules, this.schedules, withoutManagers),
    ]
  }

  /** Told when `trouble` or `missing` may have changed. */
  onHealth(listener: () => void): void {
    this.#listeners.add(listener)
  }

  get trouble(): TroubleView | undefined {
    return this.#trouble
  }

  /** What is not shown, and why. */
  get missing(): readonly string[] {
    return this.#parts.flatMap(({ type }) => {
      const failure = this.#failures.get(type.plural)?.failure
      const [group = ''] = type.apiVersion.split('/v')
      const name = type.apiVersion.includes('/') ? `${type.plural}.${group}` : type.plural
      if (isKubeError(failure, 'Forbidden')) return [`list ${name}`]
      return isKubeError(failure, 'NotFound') ? [`${type.kind} (this cluster does not know the kind)`] : []
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    await Promise.all(this.#parts.map((part) => part.run(signal)))
  }

  /** Resolves when each kind was seen whole, or there is a word on why not. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        const isTold = this.#parts.every(({ type, isSynced }) => isSynced() || this.#failures.has(type.plural))
        if (!isTold) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  #part<T extends KubeObject>(type: ResourceType<T>, store: Store<T>, transform: (object: T) => T): Part {
    const { api, clusterClock, random, log } = this.#deps
    const onFailure = (failure: unknown) => this.#noteFailure(type, failure)
    const reflector = new Reflector({
      ...{ api, type, store, transform, random, log, retryAtMostMs, onFailure },
      clock: clusterClock,
    })
    const run = async (signal: AbortSignal) => {
      const running = reflector.run(signal)
      reflector.synced(signal).then(
        () => this.#look(),
        () => undefined,
      )
      await running
    }
    return { type, run, isSynced: () => reflector.isSynced, silentMs: () => reflector.silentMs() }
  }

  #noteFailure({ plural }: ResourceType, failure: unknown): void {
    if (failure === undefined) this.#failures.delete(plural)
    else {
      const nowMs = this.#deps.clusterClock.monotonicMs()
      const { sinceMs, lastMs } = this.#failures.get(plural) ?? { sinceMs: nowMs, lastMs: nowMs }
      const hadHeld = nowMs - lastMs >= heldForMs
      this.#failures.set(plural, { failure, sinceMs: hadHeld ? nowMs : sinceMs, lastMs: nowMs })
      if (isTrouble(failure)) void this.#probe()
    }
    this.#look()
    this.#tell()
  }

  #look(): void {
    for (const look of [...this.#waiting]) look()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  /** A stream that broke says little; whether the API answers says all. */
  async #probe(): Promise<void> {
    if (this.#probing) return
    this.#probing = true
    const { clock } = this.#deps
    const signal = this.#signal
    while (signal && !signal.aborted) {
      const wrong = await this.#wrong(signal)
      if (!wrong) break
      const { since = this.#lastNews(), ...known } = this.#trouble ?? {}
      if (!equalJson(known, wrong)) this.#trouble = { since, ...wrong }
      this.#tell()
      await new Promise<void>((resolve) => clock.after(probeMs, resolve))
    }
    this.#probing = false
    this.#trouble = undefined
    this.#tell()
  }

  /** Since when the oldest of what is shown stands still. */
  #lastNews(): string {
    const silentMs = Math.max(0, ...this.#broken().map((part) => part.silentMs()))
    return new Date(this.#deps.clusterClock.now().getTime() - silentMs).toISOString()
  }

  /** Why what is shown may be old; undefined where it is not. */
  async #wrong(signal: AbortSignal): Promise<Omit<TroubleView, 'since'> | undefined> {
    const unanswered = await this.#unanswered(signal)
    const nowMs = this.#deps.clusterClock.monotonicMs()
    if (unanswered) {
      this.#mutedMs = nowMs
      return unanswered
    }
    const standing = this.#broken().find(({ isSynced, sinceMs, lastMs }) => {
      const isWell = isSynced() && nowMs - lastMs >= heldForMs
      return lastMs - Math.max(sinceMs, this.#mutedMs) >= brokenForMs && !isWell
    })
    return standing && untold(standing.type, standing.failure)
  }

  /** An API server tells its version also when it has lost its etcd. */
  async #unanswered(signal: AbortSignal): Promise<Omit<TroubleView, 'since'> | undefined> {
    const { api } = this.#deps
    try {
      await api.serverVersion(signal)
    } catch (error) {
      const { message, nextStep = 'it is asked again' } = asSlipwayError(error)
      // A refusal is an answer: of a token that has run out, or of too many requests.
      // What stands before it answers in its place when it is gone: a balancer, with 502 or 503.
      return { message, nextStep, answers: isKubeError(error) && error.status >= 400 && error.status < 500 }
    }
    for (const { type } of this.#broken()) {
      try {
        await api.list(type, { limit: 1 }, signal)
      } catch (error) {
        if (isTrouble(error)) return untold(type, error)
      }
    }
    return undefined
  }

  #broken(): readonly (Part & Failing)[] {
    return this.#parts.flatMap((part) => {
      const failing = this.#failures.get(part.type.plural)
      return failing && isTrouble(failing.failure) ? [{ ...part, ...failing }] : []
    })
  }
}

/** A kind that one may not see or that is not there stays away; a history that was forgotten is asked for afresh. */
function isTrouble(failure: unknown): boolean {
  return !isKubeError(failure, 'Forbidden', 'NotFound', 'Expired')
}

function untold({ plural }: ResourceType, failure: unknown): Omit<TroubleView, 'since'> {
  const why = failure instanceof Error ? failure.message : String(failure)
  const nextStep = 'look at the logs of the API server and of its etcd; it is asked again meanwhile'
  return { message: `the API server answers, but not for ${plural}: ${why}`, nextStep, answers: true }
}

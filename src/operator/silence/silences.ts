// Keeps a silence for each node under work. Each is short and prolonged while the work goes on: when the work fails it is ended, and
// when nobody is left to end it, it lapses. No node ever waits for one.

import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import type { SilenceSpec } from '../../api/silence.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { entryName, lapseMs, ownerOf, type SetSilence } from '../../core/silence/silence.ts'
import { isBroken } from '../../core/update/retry.ts'
import type { Reconcile } from '../../kube/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { WorkQueue } from '../../kube/work-queue.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { policyEvent } from '../notification/policy-event.ts'
import type { OperatorPorts } from '../ports.ts'
import { type AlertmanagerOptions, endSilence, findSilences, setSilence } from './alertmanager.ts'

export interface SilencesOptions {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly namespace: string
}

interface Kept extends SetSilence {
  readonly spec: SilenceSpec
  readonly node: string
  /** By our own clock. */
  readonly prolongAtMs: number
}

const pass = 'pass'
const gatherMs = 100
/** After one that failed. */
const againMs = 15_000
/** So many requests at a time. */
const atOnce = 8

export class Silences {
  readonly queue: WorkQueue
  readonly #options: SilencesOptions
  /** By entry and node. */
  readonly #kept = new Map<string, Kept>()
  /** Entries for which those of an earlier leader were looked for. */
  readonly #searched = new Set<string>()
  #failure = ''

  constructor(options: SilencesOptions) {
    const { clock, random } = options.ports
    this.#options = options
    this.queue = new WorkQueue({ clock, random, baseMs: 500, maxMs: 60_000 })
  }

  get size(): number {
    return this.#kept.size
  }

  follow(): void {
    const { policies, states } = this.#options.cluster
    policies.subscribe((change) => {
      const isNews =
        change.type !== 'changed' ||
        !equalJson(change.before.spec.silences, change.object.spec.silences) ||
        change.before.status?.ledger?.grants.length !== change.object.status?.ledger?.grants.length ||
        !equalJson(change.before.status?.ledger?.grants, change.object.status?.ledger?.grants)
      if (isNews) this.#wake()
    })
    states.subscribe((change) => {
      if (change.type !== 'changed') return
      if (change.before.status?.rollout?.phase !== change.object.status?.rollout?.phase) this.#wake()
    })
    this.#wake()
  }

  readonly reconcile: Reconcile = async (_key, signal) => {
    const { cluster, ports } = this.#options
    const specs = cluster.policy?.spec.silences ?? []
    if (specs.length === 0 && this.#kept.size === 0) return undefined
    const failures: string[] = []
    const attempt = async (work: () => Promise<void>) => {
      const failure = await this.#attempt(work, signal)
      if (failure !== undefined) failures.push(failure)
    }
    const unsearched = specs.filter((spec) => !this.#searched.has(placeOf(spec)))
    for (const spec of unsearched) await attempt(() => this.#findEarlier(spec, signal))
    const nodes = this.#underWork()
    const wanted = new Map(specs.flatMap((spec) => nodes.map((node) => [keyOf(spec, node), { spec, node }] as const)))
    const nowMs = ports.clock.monotonicMs()
    const due = [...wanted].filter(([key]) => (this.#kept.get(key)?.prolongAtMs ?? 0) <= nowMs)
    const over = [...this.#kept].filter(([key]) => !wanted.has(key))
    await inBatches(due, ([key, { spec, node }]) => attempt(() => this.#set(key, spec, node, signal)))
    await inBatches(over, ([key, kept]) => attempt(() => this.#end(key, kept, signal)))
    this.#tell(failures[0])
    const next = [...this.#kept.values()].map(({ prolongAtMs }) => prolongAtMs - ports.clock.monotonicMs())
    const waits = [...next, ...(failures.length > 0 ? [againMs] : [])]
    return waits.length > 0 ? { afterMs: Math.max(1, Math.min(...waits)) } : undefined
  }

  /** A node that failed or needs a person rings again. */
  #underWork(): readonly string[] {
    const { cluster } = this.#options
    // As the store has them: what wakes us is a change there.
    return (cluster.policy?.status?.ledger?.grants ?? []).flatMap(({ node }) => {
      const phase = cluster.states.get(node)?.status?.rollout?.phase
      return phase && isBroken(phase) ? [] : [node]
    })
  }

  async #set(key: string, spec: SilenceSpec, node: string, signal: AbortSignal): Promise<void> {
    const owner = { cluster: this.#cluster, entry: entryName(spec), node }
    const known = this.#kept.get(key)
    const before = known && { id: known.id, startsAt: known.startsAt }
    const set = await setSilence(this.#alertmanager(spec), owner, before, signal)
    const prolongAtMs = this.#options.ports.clock.monotonicMs() + lapseMs(spec) / 2
    this.#kept.set(key, { ...set, spec, node, prolongAtMs })
  }

  async #end(key: string, { spec, id }: Kept, signal: AbortSignal): Promise<void> {
    // Asked once: if nobody hears it, the silence lapses.
    this.#kept.delete(key)
    await endSilence(this.#alertmanager(spec), id, signal)
  }

  /** What an earlier leader set is gone on with, or ended. */
  async #findEarlier(spec: SilenceSpec, signal: AbortSignal): Promise<void> {
    const found = await findSilences(this.#alertmanager(spec), signal)
    this.#searched.add(placeOf(spec))
    for (const silence of found) {
      const owner = ownerOf(silence, this.#cluster)
      if (!owner || owner.entry !== entryName(spec)) continue
      this.#kept.set(keyOf(spec, owner.node), {
        ...{ id: silence.id, startsAt: silence.startsAt, spec, node: owner.node },
        prolongAtMs: 0,
      })
    }
  }

  /** Why it did not do, in a few words. */
  async #attempt(work: () => Promise<void>, signal: AbortSignal): Promise<string | undefined> {
    const { metrics } = this.#options.ports
    try {
      await work()
      metrics?.add('slipway_silence_requests_total', { outcome: 'Done' })
      return undefined
    } catch (error) {
      if (signal.aborted || !(error instanceof SlipwayError || isKubeError(error))) throw error
      metrics?.add('slipway_silence_requests_total', { outcome: 'Failed' })
      return error.message
    }
  }

  /** Once for each new cause. */
  #tell(message: string | undefined): void {
    const { events, cluster, ports } = this.#options
    if (message !== undefined && message !== this.#failure) {
      const reason: Reason = { code: 'SilenceFailed', message: `no silence for nodes under work: ${message}` }
      ports.log.warn('a silence could not be set', { code: reason.code, message })
      events.record(policyEvent(cluster, 'Warning', reason, 'Silence'))
    }
    this.#failure = message ?? ''
  }

  get #cluster(): string {
    return this.#options.cluster.policy?.metadata.uid ?? ''
  }

  #alertmanager(spec: SilenceSpec): AlertmanagerOptions {
    const { ports, namespace } = this.#options
    return { ports, namespace, spec }
  }

  #wake(): void {
    if (this.#kept.size === 0 && !this.#options.cluster.policy?.spec.silences?.length) return
    this.queue.addAfter(pass, gatherMs)
  }
}

function placeOf(spec: SilenceSpec): string {
  return `${spec.url} ${entryName(spec)}`
}

function keyOf(spec: SilenceSpec, node: string): string {
  return `${placeOf(spec)} ${JSON.stringify(spec.matchers)} ${node}`
}

async function inBatches<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += atOnce) await Promise.all(all.slice(from, from + atOnce).map(work))
}

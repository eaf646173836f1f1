// Kills one process at one chosen moment: right before or right after its n-th write or disk operation. Counts them as well,
// so that a story can first be told without trouble and then once for each of them.

import { KubeError } from '../../src/api/kube-error.ts'
import type { DiskFault } from '../../src/sim/process-host.ts'
import type { FaultSource, RequestFault, RequestInfo } from '../../src/sim/request-fault.ts'
import type { ClusterFaults } from '../../src/sim/sim-cluster.ts'
import type { SimProcess } from '../../src/sim/sim-process.ts'

/** `patch MaintenancePolicy`, `rename` (a disk operation), or one of `write` and `disk` for any of them. */
export type Moment = string

/** Of which process: the operator that leads, or the agent of a node. */
export type Victim = 'operator' | `agent/${string}`

export type Crash = {
  readonly victim: Victim
  /** Which of these moments, from 1; the first by default. */
  readonly nth?: number
} & ({ readonly before: Moment } | { readonly after: Moment })

export class CrashPoint implements ClusterFaults, FaultSource {
  readonly #crash: Crash | undefined
  readonly #counts = new Map<Moment, number>()
  readonly #absentAgents = new Set<string>()
  readonly #refused = new Map<
    string,
    { readonly error: KubeError; readonly kind?: string | undefined; readonly effect: 'none' | 'done' }
  >()
  #armed = false
  #struck: string | undefined

  constructor(crash: Crash | undefined) {
    this.#crash = crash
  }

  get requests(): FaultSource {
    return this
  }

  /** What was hit; undefined while nothing was. */
  get struck(): string | undefined {
    return this.#struck
  }

  start(): void {
    this.#armed = false
  }

  /** From now on moments count. */
  arm(): void {
    this.#armed = true
  }

  /** How often that moment came since it was armed. */
  count(victim: Victim, moment: Moment): number {
    return this.#counts.get(`${victim} ${moment}`) ?? 0
  }

  /** The agent of this node dies at each request it makes, as one that cannot be started. */
  keepAway(node: string): void {
    this.#absentAgents.add(node)
  }

  letCome(node: string): void {
    this.#absentAgents.delete(node)
  }

  /** Whether the API answers nobody: agents, operators. */
  isApiAway = false

  /**
   * From now on the API server answers such requests of the operator so; where a kind is named, only those about it.
   * `done`: it does what it is asked for all the same.
   */
  refuse(
    verb: RequestInfo['verb'],
    error: KubeError,
    type?: { readonly kind: string },
    effect: 'none' | 'done' = 'none',
  ): void {
    this.#refused.set(verb, { error, kind: type?.kind, effect })
  }

  /** Such requests are answered again. */
  allow(verb: RequestInfo['verb']): void {
    this.#refused.delete(verb)
  }

  onRequest({ client, verb, type, write }: RequestInfo): RequestFault | undefined {
    if (this.isApiAway)
      return { outcome: 'fail', effect: 'none', error: new KubeError('Unreachable', 'the API is away') }
    const refused = client.startsWith('operator/') ? this.#refused.get(verb) : undefined
    if (refused && (refused.kind ?? type.kind) === type.kind) return { outcome: 'fail', ...refused }
    if (this.#absentAgents.has(nodeOf(client))) return { outcome: 'crash', effect: 'none' }
    // The lease is renewed by the clock, not by what happens: its writes are no moments of a story.
    if (!write || type.kind === 'Lease') return undefined
    const hit = this.#moment(client, [`${verb} ${type.kind}`, 'write'])
    return hit && { outcome: 'crash', effect: hit === 'before' ? 'none' : 'done' }
  }

  onWatchEvent(): undefined {
    return undefined
  }

  disk(process: SimProcess): DiskFault {
    return (operation) => this.#moment(process.name, [operation, 'disk'])
  }

  #moment(client: string, names: readonly Moment[]): 'before' | 'after' | undefined {
    const victim = victimOf(client)
    if (!this.#armed || victim === undefined) return undefined
    for (const name of names) this.#counts.set(`${victim} ${name}`, this.count(victim, name) + 1)
    const crash = this.#crash
    if (crash?.victim !== victim || this.#struck !== undefined) return undefined
    const when = 'before' in crash ? 'before' : 'after'
    const moment = 'before' in crash ? crash.before : crash.after
    if (!names.includes(moment) || this.count(victim, moment) !== (crash.nth ?? 1)) return undefined
    this.#struck = `${client} ${when} ${names[0]}`
    return when
  }
}

function victimOf(client: string): Victim | undefined {
  if (client.startsWith('operator/')) return 'operator'
  return client.startsWith('agent/') ? `agent/${nodeOf(client)}` : undefined
}

function nodeOf(client: string): string {
  return client.startsWith('agent/') ? client.slice('agent/'.length) : ''
}

// Carries a fault plan out on a simulated cluster, and counts what hit whom in which phase of the node concerned.

import { leases, nodes, pods } from '../api/kube.ts'
import { KubeError } from '../api/kube-error.ts'
import { nodeStates } from '../api/node-state.ts'
import { carryOutEvent } from './fault-events.ts'
import { type ChanceFaultKind, type EventFaultKind, type FaultKind, type FaultPlan, onlyOn } from './fault-plan.ts'
import type { DiskFault } from './process-host.ts'
import type { FaultSource, RequestFault, RequestInfo, WatchFault } from './request-fault.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { ClusterFaults, SimCluster } from './sim-cluster.ts'
import type { SimProcess } from './sim-process.ts'

export interface FaultHit {
  readonly kind: FaultKind
  /** The rollout phase of the node concerned; `none` where there is no node or no rollout. */
  readonly phase: string
  readonly atMs: number
  /** The process, node or thing that was hit. */
  readonly where: string
}

const writeFaults = [
  'crash-before-write',
  'crash-after-write',
  'conflict',
  'throttled-before',
  'throttled-after',
  'server-error-before',
  'server-error-after',
  'timeout-before',
  'timeout-after',
] as const satisfies readonly ChanceFaultKind[]

const readFaults = [
  'crash-at-read',
  'throttled-before',
  'server-error-before',
  'timeout-before',
] as const satisfies readonly ChanceFaultKind[]

const watchFaults = [
  'watch-broken',
  'watch-delayed',
  'watch-duplicated',
  'watch-stalled',
  'watch-bookmarks-only',
] as const satisfies readonly ChanceFaultKind[]

export class FaultInjector implements ClusterFaults, FaultSource {
  readonly hits: FaultHit[] = []
  readonly plan: FaultPlan
  readonly #cluster: SimCluster
  readonly #random: SeededRandom
  readonly #counts = new Map<ChanceFaultKind, number>()
  /** Each kind has its own: one that is left out of a history does not move the others. */
  readonly #chances = new Map<ChanceFaultKind, SeededRandom>()
  #outageUntilMs = 0

  constructor(cluster: SimCluster, plan: FaultPlan) {
    this.#cluster = cluster
    this.plan = plan
    this.#random = cluster.random.fork('faults')
    for (const kind of Object.keys(plan.chances)) this.#chances.set(kind as ChanceFaultKind, this.#random.fork(kind))
  }

  get requests(): FaultSource {
    return this
  }

  /** Hits by kind and phase, for the table that a fault run prints. */
  tally(): ReadonlyMap<FaultKind, ReadonlyMap<string, number>> {
    const table = new Map<FaultKind, Map<string, number>>()
    for (const { kind, phase } of this.hits) {
      const phases = table.get(kind) ?? new Map<string, number>()
      table.set(kind, phases)
      phases.set(phase, (phases.get(phase) ?? 0) + 1)
    }
    return table
  }

  start(): void {
    for (const event of this.plan.events) {
      this.#cluster.clock.after(event.atMs, () => {
        const node = (event.busy ? this.#busyNode(event.kind) : undefined) ?? event.node
        const where = carryOutEvent(this.#cluster, { ...event, node }, () => this.#beginOutage(event.forMs))
        if (where !== undefined) this.#hit(event.kind, where, node)
      })
    }
  }

  onRequest(info: RequestInfo): RequestFault | undefined {
    if (this.#cluster.clock.monotonicMs() < this.#outageUntilMs) {
      return {
        outcome: 'fail',
        effect: 'none',
        error: new KubeError('Unreachable', 'connect ECONNREFUSED (API outage)'),
      }
    }
    const kind = this.#draw(info.write ? writeFaults : readFaults)
    if (kind === undefined) return undefined
    this.#hit(kind, `${info.client} ${info.verb} ${info.type.kind} ${info.name ?? ''}`, this.#nodeOf(info))
    return requestFault(kind)
  }

  onWatchEvent(info: RequestInfo): WatchFault | undefined {
    const kind = this.#draw(watchFaults)
    if (kind === undefined) return undefined
    this.#hit(kind, `${info.client} watch ${info.type.kind}`, this.#nodeOf(info))
    switch (kind) {
      case 'watch-broken':
        return { outcome: 'break' }
      case 'watch-delayed':
        return { outcome: 'delay', ms: this.#random.between(1000, 30_000) }
      case 'watch-duplicated':
        return { outcome: 'duplicate' }
      case 'watch-stalled':
        return { outcome: 'stall' }
      case 'watch-bookmarks-only':
        return { outcome: 'bookmarks-only', ms: this.#random.between(30_000, 180_000) }
    }
  }

  disk(process: SimProcess): DiskFault {
    return (operation, path) => {
      const kind = this.#draw(['crash-at-disk'])
      if (kind === undefined) return undefined
      this.#hit(kind, `${process.name} ${operation} ${path}`, agentNode(process.name))
      return this.#random.chance(0.5) ? 'before' : 'after'
    }
  }

  #draw<K extends ChanceFaultKind>(kinds: readonly K[]): K | undefined {
    const nowMs = this.#cluster.clock.monotonicMs()
    if (nowMs < this.plan.quietBeforeMs || nowMs >= this.plan.quietAfterMs) return undefined
    for (const kind of kinds) {
      const fault = this.plan.chances[kind]
      if (fault === undefined || nowMs < fault.fromMs || !this.#chances.get(kind)?.chance(fault.rate)) continue
      const count = (this.#counts.get(kind) ?? 0) + 1
      if (count > fault.limit) continue
      this.#counts.set(kind, count)
      if (!fault.spared.includes(count)) return kind
    }
    return undefined
  }

  /** One whose rollout is not over; a control-plane node is never deleted. */
  #busyNode(kind: EventFaultKind): string | undefined {
    const busy = this.#cluster.server.peekAll(nodeStates).filter(({ metadata, status }) => {
      const phase = status?.rollout?.phase
      const role = this.#cluster.machines.get(metadata.name)?.node.role
      return phase !== undefined && phase !== 'Done' && (onlyOn[kind] ?? role) === role
    })
    const name = this.#random.pick(busy)?.metadata.name
    // Of etcd the other members matter while one is under work.
    return kind === 'etcd-sick' && name !== undefined ? this.#fellowOf(name) : name
  }

  #fellowOf(name: string): string | undefined {
    const machines = [...this.#cluster.machines.values()]
    const fellows = machines.filter((machine) => machine.node.role === 'control-plane' && machine.name !== name)
    return this.#random.pick(fellows)?.name
  }

  #beginOutage(ms: number): void {
    this.#outageUntilMs = this.#cluster.clock.monotonicMs() + ms
    for (const process of this.#cluster.clients()) process.breakWatches()
  }

  #hit(kind: FaultKind, where: string, node: string | undefined): void {
    const state = node === undefined ? undefined : this.#cluster.server.peek(nodeStates, { name: node })
    const phase = state?.status?.rollout?.phase ?? 'none'
    this.hits.push({ kind, phase, atMs: this.#cluster.clock.monotonicMs(), where })
  }

  #nodeOf({ client, type, name, namespace }: RequestInfo): string | undefined {
    if (name !== undefined && (type.kind === nodes.kind || type.kind === nodeStates.kind)) return name
    if (name !== undefined && type.kind === leases.kind && namespace === 'kube-node-lease') return name
    if (name !== undefined && namespace !== undefined && type.kind === pods.kind) {
      return this.#cluster.server.peek(pods, { name, namespace })?.spec.nodeName
    }
    return agentNode(client)
  }
}

function agentNode(client: string): string | undefined {
  return client.startsWith('agent/') ? client.slice('agent/'.length) : undefined
}

function requestFault(kind: (typeof writeFaults)[number] | (typeof readFaults)[number]): RequestFault {
  switch (kind) {
    case 'crash-before-write':
    case 'crash-at-read':
      return { outcome: 'crash', effect: 'none' }
    case 'crash-after-write':
      return { outcome: 'crash', effect: 'done' }
    case 'conflict':
      return failing('none', 'Conflict', 409, 'Operation cannot be fulfilled: the object has been modified')
    case 'throttled-before':
      return failing('none', 'TooManyRequests', 429, 'too many requests, please try again later')
    case 'throttled-after':
      return failing('done', 'TooManyRequests', 429, 'too many requests, please try again later')
    case 'server-error-before':
      return failing('none', 'ServerError', 500, 'etcdserver: leader changed')
    case 'server-error-after':
      return failing('done', 'ServerError', 500, 'etcdserver: leader changed')
    case 'timeout-before':
      return failing('none', 'Timeout', 504, 'etcdserver: request timed out')
    case 'timeout-after':
      return failing('done', 'Timeout', 504, 'etcdserver: request timed out')
  }
}

function failing(
  effect: 'none' | 'done',
  code: 'Conflict' | 'TooManyRequests' | 'ServerError' | 'Timeout',
  status: number,
  message: string,
): RequestFault {
  const detail = code === 'TooManyRequests' ? { status, retryAfterMs: 1000 } : { status }
  return { outcome: 'fail', effect, error: new KubeError(code, message, detail) }
}

// Makes trouble as the seed says: a few kinds in each run, a few times each, so that a run can end.

import { nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { type NodeState, nodeStates } from '../../api/node-state.ts'
import type { DiskFault } from '../process-host.ts'
import type { FaultSource, RequestFault, RequestInfo, WatchFault } from '../request-fault.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { ClusterFaults, SimCluster } from '../sim-cluster.ts'
import type { SimProcess } from '../sim-process.ts'
import { ClusterTrouble } from './cluster-trouble.ts'
import { Countdown } from './countdown.ts'
import { type FaultKind, pointKinds } from './fault-kinds.ts'

/** How often each kind struck, and in which phase the node concerned was: `kind phase` to count. */
export type FaultHits = ReadonlyMap<string, number>

export interface InjectorOptions {
  readonly cluster: SimCluster
  readonly kinds: readonly FaultKind[]
  readonly random: SeededRandom
}

const kindsPerRun = { least: 1, most: 5 }

export class FaultInjector implements ClusterFaults {
  readonly requests: FaultSource
  readonly #cluster: SimCluster
  readonly #random: SeededRandom
  readonly #points = new Map<FaultKind, Countdown>()
  readonly #trouble: ClusterTrouble
  readonly #hits = new Map<string, number>()
  #armed = false

  constructor({ cluster, kinds, random }: InjectorOptions) {
    this.#cluster = cluster
    this.#random = random
    const chosen = draw(kinds, random)
    for (const kind of chosen) {
      if (pointKinds.has(kind))
        this.#points.set(kind, new Countdown(random.fork(kind), random.whole(5, 80), random.whole(1, 4)))
    }
    this.#trouble = new ClusterTrouble({
      cluster,
      random: random.fork('trouble'),
      kinds: chosen.filter((kind) => !pointKinds.has(kind)),
      hit: (kind, node) => this.#hit(kind, node),
    })
    this.requests = {
      onRequest: (info) => (this.#armed ? this.#onRequest(info) : undefined),
      onWatchEvent: (info) => (this.#armed ? this.#onWatchEvent(info) : undefined),
    }
  }

  get hits(): FaultHits {
    return this.#hits
  }

  /** Nothing goes wrong before `arm`: a cluster that never came up proves nothing. */
  start(): void {
    this.#armed = false
  }

  arm(): void {
    this.#armed = true
    this.#trouble.arm()
  }

  disarm(): void {
    this.#armed = false
    this.#trouble.disarm()
  }

  readonly disk = (process: SimProcess): DiskFault => {
    return () => {
      if (!this.#armed || !this.#strikes('agent-crash-at-disk')) return undefined
      this.#hit('agent-crash-at-disk', nodeOfClient(process.name))
      return this.#random.chance(0.5) ? 'before' : 'after'
    }
  }

  #onRequest(info: RequestInfo): RequestFault | undefined {
    const node = this.#concerned(info)
    const crash: FaultKind = info.client.startsWith('agent/') ? 'agent-crash' : 'operator-crash'
    const effect = info.write && this.#random.chance(0.5) ? 'done' : 'none'
    if (this.#trouble.isApiAway)
      return { outcome: 'fail', effect: 'none', error: new KubeError('Unreachable', 'nobody answers') }
    if (this.#strikes(crash)) {
      this.#hit(crash, node)
      return { outcome: 'crash', effect }
    }
    if (info.write && this.#strikes('conflict')) {
      this.#hit('conflict', node)
      return {
        outcome: 'fail',
        effect: 'none',
        error: new KubeError('Conflict', 'the object has been modified', { status: 409 }),
      }
    }
    for (const kind of ['too-many-requests', 'server-error', 'timeout'] as const) {
      if (!this.#strikes(kind)) continue
      this.#hit(kind, node)
      return { outcome: 'fail', effect: kind === 'too-many-requests' ? 'none' : effect, error: errors[kind]() }
    }
    return undefined
  }

  #onWatchEvent(info: RequestInfo): WatchFault | undefined {
    const faults = {
      'watch-broken': () => ({ outcome: 'break' }) as const,
      'watch-late': () => ({ outcome: 'delay', ms: this.#random.between(100, 20_000) }) as const,
      'watch-duplicated': () => ({ outcome: 'duplicate' }) as const,
      'watch-stalled': () => ({ outcome: 'stall' }) as const,
      'watch-bookmarks-only': () => ({ outcome: 'bookmarks-only', ms: this.#random.between(1_000, 60_000) }) as const,
    } as const
    for (const kind of Object.keys(faults) as (keyof typeof faults)[]) {
      if (!this.#strikes(kind)) continue
      this.#hit(kind, this.#concerned(info))
      return faults[kind]()
    }
    return undefined
  }

  #strikes(kind: FaultKind): boolean {
    return this.#points.get(kind)?.tick() ?? false
  }

  /** The node a request is about; where it names none, one that is under work now. */
  #concerned({ client, type, name }: RequestInfo): string | undefined {
    const own = nodeOfClient(client)
    if (own !== undefined) return own
    if ((type.kind === nodes.kind || type.kind === nodeStates.kind) && name !== undefined) return name
    for (const state of this.#cluster.server.peekAll(nodeStates)) {
      const phase = (state as NodeState).status?.rollout?.phase
      if (phase !== undefined && phase !== 'Done') return state.metadata.name
    }
    return undefined
  }

  #hit(kind: FaultKind, node: string | undefined): void {
    const state =
      node === undefined ? undefined : (this.#cluster.server.peek(nodeStates, { name: node }) as NodeState | undefined)
    const key = `${kind} ${state?.status?.rollout?.phase ?? 'Pending'}`
    this.#hits.set(key, (this.#hits.get(key) ?? 0) + 1)
  }
}

const errors = {
  'too-many-requests': () =>
    new KubeError('TooManyRequests', 'too many requests', { status: 429, retryAfterMs: 1_000 }),
  'server-error': () => new KubeError('ServerError', 'etcdserver: request timed out', { status: 500 }),
  timeout: () => new KubeError('Timeout', 'no answer in time'),
} as const

function nodeOfClient(client: string): string | undefined {
  return client.startsWith('agent/') ? client.slice('agent/'.length) : undefined
}

function draw(kinds: readonly FaultKind[], random: SeededRandom): readonly FaultKind[] {
  const left = [...kinds]
  const chosen: FaultKind[] = []
  const count = random.whole(kindsPerRun.least, kindsPerRun.most)
  while (chosen.length < count && left.length > 0) {
    const [kind] = left.splice(random.whole(0, left.length - 1), 1)
    if (kind !== undefined) chosen.push(kind)
  }
  return chosen
}

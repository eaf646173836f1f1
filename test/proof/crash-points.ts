// Kills the operator or an agent at chosen points of a history, and numbers those points, so that the history can be told
// again with a crash at any of them. A moment comes before and after every write to the API, where every read is answered,
// where every watch event arrives, and before and after every change an agent makes to its disk or to its machine's processes.
//
// Two moments of one process are the same point when the same world is left behind. That is so where no timer has fired in
// between (it is the same instant, and nobody was given a turn), nothing was committed, no file and no process of a machine has
// changed, and the process has sent no further request: all that it did since was in its memory, which dies with it.

import type { Disk } from '../../src/ports/disk.ts'
import type { DiskFault, JobFault } from '../../src/sim/process-host.ts'
import type { FaultSource, RequestFault, RequestInfo } from '../../src/sim/request-fault.ts'
import type { ClusterFaults, SimCluster } from '../../src/sim/sim-cluster.ts'
import type { SimProcess } from '../../src/sim/sim-process.ts'

/** `operator`, or the agent of a node: `agent/w1`. */
export type Victim = 'operator' | `agent/${string}`

export interface CrashPoint {
  readonly victim: Victim
  readonly what: string
  readonly atMs: number
  /** The same point as the last one of this victim; told of only where nothing is folded. */
  readonly isSame: boolean
}

export interface CrashPlan {
  /** Where somebody dies, by the places among the points, in their order. */
  readonly crashes: readonly number[]
  /** Each moment a point of its own, also where it is the same as the one before. */
  readonly unfolded?: boolean
}

interface World {
  readonly fired: number
  readonly effects: number
  readonly requestsSent: number
}

/** A sync changes nothing that a process can see: it is about power, which is not lost here. */
const changing: ReadonlySet<keyof Disk> = new Set(['write', 'rename', 'remove', 'makeFolder', 'removeFolder'])

export class CrashPoints implements ClusterFaults, FaultSource {
  readonly points: CrashPoint[] = []
  readonly struck: CrashPoint[] = []
  readonly #plan: CrashPlan
  readonly #cluster: SimCluster
  readonly #left = new Map<string, World>()
  readonly #requestsSent = new Map<string, number>()
  #folded = 0
  #effects = 0
  #armed = false

  constructor(cluster: SimCluster, plan: CrashPlan) {
    this.#cluster = cluster
    this.#plan = plan
  }

  get requests(): FaultSource {
    return this
  }

  /** Moments since the last crash that were the same point as the one before them. */
  get folded(): number {
    return this.#folded
  }

  start(): void {
    this.#cluster.server.onCommit(() => {
      this.#effects++
    })
  }

  /** From now on moments count. */
  arm(): void {
    this.#armed = true
  }

  disarm(): void {
    this.#armed = false
  }

  onRequest({ client, verb, type, name, write }: RequestInfo): RequestFault | undefined {
    const what = `${verb} ${type.kind}${name ? ` ${name}` : ''}`
    if (write && this.#moment(client, `before ${what}`)) return { outcome: 'crash', effect: 'none' }
    this.#requestsSent.set(client, this.#sentBy(client) + 1)
    const answered = write ? `after ${what}` : `at the answer to ${what}`
    return this.#point(client, answered) ? { outcome: 'crash', effect: 'done' } : undefined
  }

  onWatchEvent(): undefined {
    return undefined
  }

  onArrival({ client, type }: RequestInfo): boolean {
    return this.#moment(client, `when a watched ${type.kind} arrives`)
  }

  disk({ name }: SimProcess): DiskFault {
    return (operation, path) => {
      if (this.#moment(name, `before ${operation} ${path}`)) return 'before'
      if (changing.has(operation)) this.#effects++
      return this.#moment(name, `after ${operation} ${path}`) ? 'after' : undefined
    }
  }

  jobs({ name }: SimProcess): JobFault {
    return (operation, when) => {
      if (when === 'after') this.#effects++
      const isHit = this.#moment(name, `${when} ${operation} of a job`)
      if (when === 'before') this.#effects++
      return isHit
    }
  }

  #moment(client: string, what: string): boolean {
    const world = { fired: this.#cluster.clock.fired, effects: this.#effects, requestsSent: this.#sentBy(client) }
    const left = this.#left.get(client)
    const isSame =
      left?.fired === world.fired && left.effects === world.effects && left.requestsSent === world.requestsSent
    this.#left.set(client, world)
    if (!isSame || this.#plan.unfolded) return this.#point(client, what, isSame)
    if (this.#armed) this.#folded++
    return false
  }

  #point(client: string, what: string, isSame = false): boolean {
    const victim = victimOf(client)
    if (!this.#armed || victim === undefined) return false
    const point = { victim, what, atMs: this.#cluster.clock.monotonicMs(), isSame }
    this.points.push(point)
    if (this.points.length - 1 !== this.#plan.crashes[this.struck.length]) return false
    this.struck.push(point)
    this.#folded = 0
    return true
  }

  #sentBy(client: string): number {
    return this.#requestsSent.get(client) ?? 0
  }
}

function victimOf(client: string): Victim | undefined {
  if (client.startsWith('operator/')) return 'operator'
  return client.startsWith('agent/') ? (client as Victim) : undefined
}

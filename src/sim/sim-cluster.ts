// A whole cluster in memory: API server, control plane, machines with their kubelets and agents, and programs in pods.

import { type Pod, pods } from '../api/kube.ts'
import type { Job } from '../ports/host.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Random } from '../ports/random.ts'
import { type ActorName, startControlPlane } from './actors/control-plane.ts'
import type { Programs } from './container-runtime.ts'
import { PretendControlPlane } from './pretend-control-plane.ts'
import type { Execution } from './pretend-host.ts'
import type { DiskFault, JobFault } from './process-host.ts'
import { RequestCounter } from './request-counter.ts'
import type { FaultSource } from './request-fault.ts'
import { SeededRandom } from './seeded-random.ts'
import { SimApi } from './sim-api.ts'
import { type NodeSpec, SimMachine, type StartAgent } from './sim-machine.ts'
import { type ProcessExit, SimProcess, type SimWorld } from './sim-process.ts'
import { type RunEnd, type RunOptions, VirtualClock } from './virtual-clock.ts'

type Range = readonly [number, number]

export interface SimClusterOptions {
  readonly seed: number | string
  /** The instant at which it is started; by default a Monday morning. */
  readonly startMs?: number
  readonly nodes: readonly NodeSpec[]
  /** Drawn for each request and watch event of agents, programs and clients. */
  readonly latencyMs?: Range
  /** The same for kubelets and controllers, whose way to the API is seldom what a simulation is about. */
  readonly actorLatencyMs?: Range
  readonly workMs?: Range
  readonly podStartMs?: Range
  readonly podStopMs?: Range
  readonly jobMs?: Range
  /** How long a job of an agent takes, where the range of workMs says too little. */
  readonly durationOf?: (job: Job, nodeName: string, random: Random) => number
  readonly bootMs?: number
  readonly isSick?: (pod: Pod) => boolean
  readonly podCapacity?: number
  /** How often a kubelet renews its lease: the heartbeat of an idle simulation. */
  readonly leaseEveryMs?: number
  readonly historyLimit?: number
  readonly which?: 'all' | readonly ActorName[]
  readonly programs?: Programs
  readonly startAgent?: StartAgent
  readonly exitCodeOf?: (job: Job, nodeName: string) => number
  readonly versionsOnOffer?: readonly string[]
  /** Told of every job on any machine, just before it runs. */
  readonly onExecution?: (execution: Execution) => void
  /** Whether control-plane nodes keep ordinary pods off; by default where there are workers to take them. */
  readonly taintControlPlane?: boolean
  readonly faults?: (cluster: SimCluster) => ClusterFaults
}

/** What makes trouble in this cluster. */
export interface ClusterFaults {
  readonly requests: FaultSource
  readonly disk: (process: SimProcess) => DiskFault
  readonly jobs?: (process: SimProcess) => JobFault
  /** Called once when the cluster is started. */
  start(): void
}

/** A process that ended by an error of its own: never expected. */
export interface Failure {
  readonly process: string
  readonly error: unknown
}

export class SimCluster implements SimWorld {
  readonly clock: VirtualClock
  readonly counter = new RequestCounter()
  readonly random: SeededRandom
  readonly server: SimApi
  readonly machines = new Map<string, SimMachine>()
  readonly failures: Failure[] = []
  /** What answers agents that ask etcd or an API server of their own host. */
  readonly controlPlaneServers = new PretendControlPlane(() => this.#etcdMembers())
  readonly #options: SimClusterOptions
  readonly #faults: ClusterFaults | undefined
  readonly #apiServers = new Map<string, string>()
  readonly #controlPlaneMachines: SimMachine[] = []
  readonly #processes = new Set<SimProcess>()
  #controlPlane: SimProcess | undefined

  constructor(options: SimClusterOptions) {
    this.#options = options
    this.clock = new VirtualClock(options.startMs === undefined ? {} : { startMs: options.startMs })
    this.random = new SeededRandom(options.seed)
    this.server = new SimApi({
      clock: this.clock,
      random: this.random.fork('api-server'),
      ...(options.historyLimit === undefined ? {} : { historyLimit: options.historyLimit }),
    })
    this.#faults = options.faults?.(this)
    const mixed = new Set(options.nodes.map((node) => node.role)).size > 1
    const tainted = options.taintControlPlane ?? mixed
    for (const node of options.nodes) this.#addMachine(node, tainted && node.role === 'control-plane')
  }

  /** Powers everything on. */
  start(): this {
    this.#controlPlane = new SimProcess(this, {
      name: 'control-plane',
      random: this.random.fork('control-plane'),
      latencyMs: this.#actorLatency(),
    })
    this.#controlPlane.onExit((exit) => this.#note(this.#controlPlane as SimProcess, exit))
    this.#controlPlane.start(({ api, clock, random, signal }) =>
      startControlPlane(api, clock, random, signal, { which: this.#options.which ?? 'all' }),
    )
    for (const machine of this.machines.values()) if (machine.node.found?.power !== 'off') machine.powerOn()
    this.#faults?.start()
    return this
  }

  run(options: RunOptions): Promise<RunEnd> {
    return this.clock.run(options)
  }

  /** A process outside the cluster's machines: a person, a test, a second controller. */
  process(name: string, options: { readonly latencyMs?: Range; readonly faults?: FaultSource } = {}): SimProcess {
    const process = new SimProcess(this, {
      name,
      random: this.random.fork(`process/${name}/${this.#processes.size}`),
      latencyMs: options.latencyMs ?? this.latencyMs,
      faults: options.faults,
    })
    this.#processes.add(process)
    process.onExit((exit) => this.#note(process, exit))
    return process
  }

  /** A person's or test's access to the API: no delay, no faults. */
  client(name: string): KubeApi {
    return this.process(name, { latencyMs: [0, 0] }).api
  }

  machine(name: string): SimMachine {
    const machine = this.machines.get(name)
    if (machine === undefined) throw new Error(`no machine ${name}`)
    return machine
  }

  /** Everything any machine has run so far. */
  executions(): readonly Execution[] {
    return [...this.machines.values()].flatMap(({ host }) => host.executions)
  }

  /** The programs that run in pods now. */
  programs(): readonly SimProcess[] {
    return [...this.machines.values()].flatMap(({ containers }) => containers.processes())
  }

  /** The API servers' versions, by control-plane node. */
  get apiServers(): ReadonlyMap<string, string> {
    return this.#apiServers
  }

  /** The control-plane machines whose member of etcd is down, and since when. */
  etcdDownSince(): ReadonlyMap<string, number> {
    return new Map(
      this.#controlPlaneMachines.flatMap(({ name, etcdDownSince }) =>
        etcdDownSince === undefined ? [] : [[name, etcdDownSince]],
      ),
    )
  }

  /** Every process that talks to the API and is not the control plane itself. */
  clients(): readonly SimProcess[] {
    const agents = [...this.machines.values()].flatMap(({ agent }) => (agent?.alive ? [agent] : []))
    return [...agents, ...this.programs(), ...[...this.#processes].filter((process) => process.alive)]
  }

  /** etcd is restored from a backup: the API goes back, the machines do not, and nobody's watch outlives it. */
  goBack(saved: ReturnType<SimApi['save']>): void {
    this.server.goBack(saved)
    const kubelets = [...this.machines.values()].map(({ kubelet }) => kubelet)
    for (const process of [this.#controlPlane, ...kubelets, ...this.clients()]) process?.breakWatches()
  }

  podsOn(node: string): readonly Pod[] {
    return this.server.peekAll(pods, { fieldSelector: `spec.nodeName=${node}` })
  }

  get latencyMs(): Range {
    return this.#options.latencyMs ?? [0, 0]
  }

  #etcdMembers(): ReadonlyMap<string, boolean> {
    return new Map(this.#controlPlaneMachines.map(({ name, etcdDownSince }) => [name, etcdDownSince === undefined]))
  }

  #actorLatency(): Range {
    return this.#options.actorLatencyMs ?? [0, 0]
  }

  #addMachine(node: NodeSpec, tainted: boolean): void {
    const options = this.#options
    const faults = this.#faults
    const machine = new SimMachine(this, {
      node,
      tainted,
      random: this.random.fork(`machine/${node.name}`),
      latencyMs: this.latencyMs,
      kubeletLatencyMs: this.#actorLatency(),
      workMs: options.workMs ?? [20_000, 40_000],
      podStartMs: options.podStartMs ?? [500, 3000],
      podStopMs: options.podStopMs ?? [500, 5000],
      jobMs: options.jobMs ?? [30_000, 60_000],
      podCapacity: options.podCapacity ?? 110,
      leaseEveryMs: options.leaseEveryMs ?? 10_000,
      programs: options.programs ?? {},
      startAgent: options.startAgent,
      exitCodeOf: options.exitCodeOf,
      durationOf: options.durationOf,
      bootMs: options.bootMs,
      isSick: options.isSick,
      versionsOnOffer: options.versionsOnOffer,
      faults: faults?.requests,
      diskFault: faults === undefined ? undefined : (process) => faults.disk(process),
      jobFault: (process) => faults?.jobs?.(process),
      onExecution: options.onExecution,
      onVersions: ({ apiServer }) => this.#announce(node.name, apiServer),
      onExit: (process, exit) => this.#note(process, exit),
    })
    this.machines.set(node.name, machine)
    if (node.role !== 'control-plane') return
    this.#controlPlaneMachines.push(machine)
    this.#announce(node.name, node.apiServer ?? node.version)
  }

  /** The API as a whole is as old as its oldest server. */
  #announce(node: string, apiServer: string | undefined): void {
    if (apiServer === undefined || this.#apiServers.get(node) === apiServer) return
    this.#apiServers.set(node, apiServer)
    const [oldest] = [...this.#apiServers.values()].sort(byVersion)
    if (oldest !== undefined) this.server.setServerVersion(oldest)
  }

  #note(process: SimProcess, exit: ProcessExit): void {
    this.#processes.delete(process)
    if (exit.how === 'failed' && !process.signal.aborted)
      this.failures.push({ process: process.name, error: exit.error })
  }
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

import type { Node, Pod } from '../api/kube.ts'
import type { HostFacts, Job } from '../ports/host.ts'
import type { Random } from '../ports/random.ts'
import { runKubelet } from './actors/kubelet.ts'
import { ContainerRuntime, type Programs } from './container-runtime.ts'
import { PretendDisk } from './pretend-disk.ts'
import { type Execution, PretendHost } from './pretend-host.ts'
import type { PretendState } from './pretend-state.ts'
import { type DiskFault, hostOf, type JobFault } from './process-host.ts'
import type { FaultSource } from './request-fault.ts'
import type { SeededRandom } from './seeded-random.ts'
import { type ProcessExit, SimProcess, type SimWorld } from './sim-process.ts'

export interface NodeSpec {
  readonly name: string
  readonly role: 'control-plane' | 'worker'
  readonly version: string
  /** Of a control-plane node; the same as its kubelet's where it is not given. */
  readonly apiServer?: string
  readonly zone?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly allocatable?: Readonly<Record<string, string>>
  readonly found?: FoundMachine
  /** What is known of a new machine besides its versions. */
  readonly facts?: Partial<HostFacts>
}

/** A machine that was there before the simulation. */
export interface FoundMachine {
  /** Its Node, which stands in the API already. */
  readonly node: Node
  readonly power: 'on' | 'off'
  /** What its agent has said of the host; absent: it never reported. */
  readonly facts: Partial<HostFacts> | undefined
}

/** Starts the agent of one machine; its promise is the agent's life. */
export type StartAgent = (process: SimProcess, host: ReturnType<typeof hostOf>, nodeName: string) => Promise<void>

export interface MachineOptions {
  readonly node: NodeSpec
  readonly tainted: boolean
  readonly random: SeededRandom
  readonly latencyMs: readonly [number, number]
  readonly kubeletLatencyMs: readonly [number, number]
  readonly workMs: readonly [number, number]
  readonly podStartMs: readonly [number, number]
  readonly podStopMs: readonly [number, number]
  readonly jobMs: readonly [number, number]
  readonly podCapacity: number
  readonly leaseEveryMs: number
  readonly programs: Programs
  readonly startAgent: StartAgent | undefined
  readonly durationOf: ((job: Job, nodeName: string, random: Random) => number) | undefined
  readonly bootMs: number | undefined
  readonly isSick: ((pod: Pod) => boolean) | undefined
  readonly exitCodeOf: ((job: Job, nodeName: string) => number) | undefined
  readonly versionsOnOffer: readonly string[] | undefined
  readonly faults: FaultSource | undefined
  readonly diskFault: ((process: SimProcess) => DiskFault) | undefined
  readonly jobFault: (process: SimProcess) => JobFault | undefined
  readonly onExecution: ((execution: Execution) => void) | undefined
  readonly onVersions: (state: PretendState) => void
  readonly onExit: (process: SimProcess, exit: ProcessExit) => void
}

/** From the order to boot until everything runs again. */
const defaultBootMs = 20_000

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

/** A machine: its disk, what runs on it, and its power switch. */
export class SimMachine {
  readonly name: string
  readonly node: NodeSpec
  readonly disk = new PretendDisk()
  readonly host: PretendHost
  readonly containers: ContainerRuntime
  readonly #world: SimWorld
  readonly #options: MachineOptions
  #skewMs = 0
  #powered = false
  #offSince: number | undefined = 0
  #etcdSick: { readonly since: number; readonly until: number } | undefined
  #boots = 0
  #agentStarts = 0
  #kubeletStarts = 0
  #kubelet: SimProcess | undefined
  #agent: SimProcess | undefined

  constructor(world: SimWorld, options: MachineOptions) {
    this.#world = world
    this.#options = options
    this.node = options.node
    this.name = options.node.name
    const { exitCodeOf, durationOf, versionsOnOffer, onExecution } = options
    const { found } = options.node
    this.host = new PretendHost({
      nodeName: this.name,
      clock: world.clock,
      random: options.random.fork('host'),
      disk: this.disk,
      role: options.node.role,
      version: options.node.version,
      apiServer: options.node.apiServer ?? options.node.version,
      workMs: options.workMs,
      ...(versionsOnOffer === undefined ? {} : { versionsOnOffer }),
      ...(options.node.facts && { facts: options.node.facts }),
      found: found?.facts,
      ...(durationOf && { durationOf: (job: Job, random: Random) => durationOf(job, this.name, random) }),
      ...(exitCodeOf === undefined ? {} : { exitCodeOf: (job: Job) => exitCodeOf(job, this.name) }),
      ...(onExecution === undefined ? {} : { onExecution }),
      onKubeletRestart: () => this.restartKubelet(),
      onReboot: () => this.losePowerFor(options.bootMs ?? defaultBootMs),
      onVersions: options.onVersions,
    })
    this.containers = new ContainerRuntime({
      clock: world.clock,
      programs: options.programs,
      makeProcess: (pod, restarts) => this.#programProcess(pod, restarts),
      onExit: options.onExit,
    })
  }

  get powered(): boolean {
    return this.#powered
  }

  /** Since when its member of etcd is down, by the world's clock; undefined while it is up. Only a control-plane machine has one. */
  get etcdDownSince(): number | undefined {
    const sick =
      this.#etcdSick && this.#world.clock.monotonicMs() < this.#etcdSick.until ? this.#etcdSick.since : undefined
    return this.#offSince === undefined ? sick : Math.min(this.#offSince, sick ?? this.#offSince)
  }

  /** Its member of etcd does not answer for so long, though the machine is well. */
  sickenEtcd(forMs: number): void {
    const since = this.#world.clock.monotonicMs()
    this.#etcdSick = { since, until: since + forMs }
  }

  get agent(): SimProcess | undefined {
    return this.#agent
  }

  get kubelet(): SimProcess | undefined {
    return this.#kubelet
  }

  setSkew(skewMs: number): void {
    this.#skewMs = skewMs
    for (const process of [this.#kubelet, this.#agent, ...this.containers.processes()]) process?.clock.setSkew(skewMs)
  }

  powerOn(): void {
    if (this.#powered) return
    this.#powered = true
    this.#offSince = undefined
    this.#boots++
    this.#startKubelet()
    this.#startAgent()
  }

  /** Everything that ran is gone; of the disk, what was synced is left. */
  losePower(): void {
    if (!this.#powered) return
    this.#powered = false
    this.#offSince = this.#world.clock.monotonicMs()
    this.#kubelet?.crash()
    this.#agent?.crash()
    this.containers.losePower()
    this.disk.losePower(this.#options.random.fork(`power/${this.#boots}`))
    void this.host.losePower()
  }

  losePowerFor(ms: number): void {
    this.losePower()
    this.#world.clock.after(ms, () => this.powerOn())
  }

  restartKubelet(): void {
    this.#kubelet?.crash()
    if (this.#powered) this.#startKubelet()
  }

  #startKubelet(): void {
    const boots = this.#boots
    const process = this.#process('kubelet', ++this.#kubeletStarts, this.#options.kubeletLatencyMs, undefined)
    this.#kubelet = process
    process.onExit((exit) => {
      this.#options.onExit(process, exit)
      if (exit.how === 'failed') this.#again(boots, () => this.#kubelet === process && this.#startKubelet())
    })
    process.start(async (self) => {
      const { kubelet, bootId } = await this.host.state()
      const { podStartMs, podStopMs, jobMs, podCapacity, leaseEveryMs } = this.#options
      await runKubelet(
        {
          api: self.api,
          clock: self.clock,
          random: self.random,
          nodeName: this.name,
          version: kubelet,
          bootId,
          labels: this.#labels(),
          ...(this.node.allocatable && { allocatable: this.node.allocatable }),
          ...(this.node.found && { found: this.node.found.node }),
          ...(this.#options.tainted ? { taints: [{ key: controlPlaneLabel, effect: 'NoSchedule' }] } : {}),
          podCapacity,
          ...(this.#options.isSick && { isSick: this.#options.isSick }),
          containers: this.containers,
          podStartMs,
          podStopMs,
          jobMs,
          leaseEveryMs,
        },
        self.signal,
      )
    })
  }

  #startAgent(): void {
    const { startAgent, faults, diskFault, jobFault, latencyMs } = this.#options
    if (startAgent === undefined) return
    const boots = this.#boots
    const process = this.#process('agent', ++this.#agentStarts, latencyMs, faults)
    this.#agent = process
    process.onExit((exit) => {
      this.#options.onExit(process, exit)
      this.#again(boots, () => this.#startAgent())
    })
    process.start((self) => startAgent(self, hostOf(self, this.host, diskFault?.(self), jobFault(self)), this.name))
  }

  #again(boots: number, start: () => void): void {
    const delayMs = this.#options.random.between(1000, 5000)
    this.#world.clock.after(delayMs, () => {
      if (this.#powered && boots === this.#boots) start()
    })
  }

  #process(
    role: string,
    count: number,
    latencyMs: readonly [number, number],
    faults: FaultSource | undefined,
  ): SimProcess {
    return new SimProcess(this.#world, {
      name: `${role}/${this.name}`,
      random: this.#options.random.fork(`${role}/${count}`),
      latencyMs,
      faults,
      skewMs: this.#skewMs,
    })
  }

  #programProcess(pod: Pod, restarts: number): SimProcess {
    const { faults, latencyMs, random } = this.#options
    return new SimProcess(this.#world, {
      name: programName(pod),
      random: random.fork(`program/${pod.metadata.name}/${restarts}`),
      latencyMs,
      faults,
      skewMs: this.#skewMs,
    })
  }

  #labels(): Readonly<Record<string, string>> {
    const { role, zone, labels } = this.node
    return {
      ...labels,
      ...(role === 'control-plane' ? { [controlPlaneLabel]: '' } : {}),
      ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }),
    }
  }
}

/** `operator/slipway-7f…`: what it is, and which one. */
function programName(pod: Pod): string {
  const [container] = pod.spec.containers
  return `${container?.args?.[0] ?? container?.image ?? 'program'}/${pod.metadata.name}`
}

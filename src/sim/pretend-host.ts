// A machine that only pretends to work: its programs take their time and change versions in a file. All it knows is on its
// disk under /pretend, so that on a real folder a rehearsal goes on where it was.

import type { Clock } from '../ports/clock.ts'
import type { Disk } from '../ports/disk.ts'
import type {
  Command,
  CommandResult,
  HeldProcess,
  Host,
  HostFacts,
  Job,
  JobState,
  ProcessIdentity,
} from '../ports/host.ts'
import type { HostFiles } from '../ports/host-files.ts'
import type { Random } from '../ports/random.ts'
import { DiskFiles } from './disk-files.ts'
import { pretendManifests } from './pretend-control-plane.ts'
import { forgetJob, type KeptJob, keepJob, keepKilled, keptJobs, wasKilled } from './pretend-jobs.ts'
import { type PretendState, pretendFolder, readPretendState, writeDurably, writePretendState } from './pretend-state.ts'
import { versionsOnOffer } from './pretend-versions.ts'

/** One job as the rule checker sees it. */
export interface Execution {
  readonly node: string
  readonly order: string
  readonly step: string
  readonly argv: readonly string[]
  /** With the boot id: which process of this machine it was; one that goes on in another life of the program is the same. */
  readonly pid: number
  readonly bootId: string
  readonly startedMs: number
  endedMs?: number
  /** How it ended, where it ended by itself. */
  exitCode?: number
  outcome: 'running' | 'exited' | 'killed' | 'power-lost'
}

export interface PretendHostOptions {
  readonly nodeName: string
  readonly clock: Clock
  readonly random: Random
  readonly disk: Disk
  readonly role: 'control-plane' | 'worker'
  /** What is installed when the machine is new. */
  readonly version: string
  /** The same of its API server, on a control-plane node. By default that version too. */
  readonly apiServer?: string
  /** How long a job takes, drawn for each. */
  readonly workMs: readonly [number, number]
  readonly versionsOnOffer?: readonly string[]
  /** What is other than on a host where all is well. */
  readonly facts?: Partial<HostFacts>
  /** What is known of the host it stands for: no more than that is told, and that it is well is not made up. */
  readonly found?: Partial<HostFacts> | undefined
  /** Instead of a draw from workMs. */
  readonly durationOf?: (job: Job, random: Random) => number
  readonly exitCodeOf?: (job: Job) => number
  /** Told just before a job runs; it is not among the executions yet. */
  readonly onExecution?: (execution: Execution) => void
  /** The restart job ends when this is done: cut off before that, the job goes on, and so it is told at least once. */
  readonly onKubeletRestart?: () => void | Promise<void>
  readonly onVersions?: (state: PretendState) => void
  /** The machine was asked to boot anew. */
  readonly onReboot?: () => void
}

interface RunningJob {
  readonly identity: ProcessIdentity
  readonly job: Job
  readonly execution: Execution
  readonly cancel: () => void
  readonly waiting: (() => void)[]
}

const wellHost: Partial<HostFacts> = { freeGiB: 10, cgroup: 'v2', kubeletFlags: [] }
const wellControlPlane: Partial<HostFacts> = { etcd: '3.6.8-0', certificatesExpireAt: '2099-01-01T00:00:00.000Z' }
const restartMs = 1500
const endingMs = 200

export class PretendHost implements Host {
  readonly disk: Disk
  readonly files: HostFiles
  readonly executions: Execution[] = []
  readonly #options: PretendHostOptions
  readonly #running = new Map<number, RunningJob>()
  #state: PretendState | undefined
  #loading: Promise<PretendState> | undefined
  #slowness = 1
  #boot = 0

  constructor(options: PretendHostOptions) {
    this.#options = options
    this.disk = options.disk
    this.files = new DiskFiles(options.disk)
  }

  /** From now on jobs take that many times as long. */
  slowDown(factor: number): void {
    this.#slowness = factor
  }

  /** Every process is gone, and the next boot has another id. */
  async losePower(): Promise<void> {
    this.#boot++
    for (const running of [...this.#running.values()]) this.#finish(running, 'power-lost')
    this.#state = undefined
    this.#loading = undefined
    const state = (await readPretendState(this.disk)) ?? this.#fresh()
    await this.#save({ ...state, bootId: this.#options.random.uuid() })
  }

  /** What is installed, for those who judge a simulation; undefined before anybody has asked. */
  get installed(): PretendState | undefined {
    return this.#state
  }

  /** Read from the disk once: also the jobs that went on while nobody pretended. */
  state(): Promise<PretendState> {
    if (this.#state !== undefined) return Promise.resolve(this.#state)
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<PretendState> {
    const boot = this.#boot
    const known = await readPretendState(this.disk)
    if (known === undefined) await this.#save(this.#fresh())
    if (this.#options.role === 'control-plane') await this.#layManifests()
    for (const kept of await keptJobs(this.disk)) {
      if (boot !== this.#boot) break
      if (kept.identity.bootId === known?.bootId) this.#start(kept)
      else await forgetJob(this.disk, kept.identity.pid)
    }
    this.#state ??= known
    return this.#state ?? this.#fresh()
  }

  async #layManifests(): Promise<void> {
    for (const [path, content] of Object.entries(pretendManifests(this.#options.nodeName))) {
      if ((await this.files.look(path)).kind !== 'none') continue
      await this.files.write(path, content, { mode: 0o600, owner: 'root', group: 'root' })
    }
  }

  #fresh(): PretendState {
    const { role, version, apiServer = version, random } = this.#options
    return {
      kubelet: version,
      ...(role === 'control-plane' ? { apiServer } : {}),
      bootId: random.uuid(),
      lastPid: 1000,
    }
  }

  async bootId(): Promise<string> {
    return (await this.state()).bootId
  }

  /** On the clock nobody sets. It goes on while nobody pretends, as the boot id and the jobs do. */
  uptimeMs(): Promise<number> {
    return Promise.resolve(this.#options.clock.now().getTime())
  }

  async facts(_signal: AbortSignal): Promise<HostFacts> {
    const { kubelet, apiServer, osImage } = await this.state()
    const { role, facts, found } = this.#options
    return {
      os: 'Pretend Linux',
      kernel: '6.12.0-pretend',
      architecture: 'amd64',
      kubelet,
      ...(apiServer === undefined ? {} : { apiServer }),
      versionsOnOffer: [...(this.#options.versionsOnOffer ?? versionsOnOffer(kubelet))],
      ...(found ?? { ...wellHost, ...(role === 'control-plane' && wellControlPlane) }),
      ...facts,
      ...(osImage && { osImage }),
    }
  }

  /** No program is there but those of the pretended upgrade, which are jobs. */
  run({ argv }: Command, _signal: AbortSignal): Promise<CommandResult> {
    return Promise.resolve({ exitCode: 127, stdout: '', stderr: `${argv[0]}: not found` })
  }

  async reboot(signal: AbortSignal): Promise<void> {
    this.#options.onReboot?.()
    // Who asked went down with the machine.
    signal.throwIfAborted()
  }

  async hold(job: Job, _signal: AbortSignal): Promise<HeldProcess> {
    const boot = this.#boot
    const state = await this.state()
    const pid = state.lastPid + 1
    await this.#save({ ...state, lastPid: pid })
    const identity = { pid, startTime: String(this.#options.clock.now().getTime()), bootId: state.bootId }
    return {
      identity,
      release: async () => {
        const endsAtMs = this.#options.clock.now().getTime() + this.#duration(job)
        await keepJob(this.disk, { identity, job, endsAtMs })
        if (boot === this.#boot) this.#start({ identity, job, endsAtMs })
      },
    }
  }

  async look(process: ProcessIdentity, resultPath: string): Promise<JobState> {
    await this.state()
    if (this.#find(process) !== undefined) return { state: 'running' }
    const result = await this.disk.read(resultPath)
    if (result === undefined) return { state: (await this.#hasRun(process)) ? 'gone' : 'unrun' }
    const exitCode = Number.parseInt(result, 10)
    return Number.isInteger(exitCode) ? { state: 'exited', exitCode } : { state: 'gone' }
  }

  async ended(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
    await this.state()
    const running = this.#find(process)
    if (running === undefined) return
    await new Promise<void>((resolve, reject) => {
      signal.throwIfAborted()
      const aborted = (): void => reject(signal.reason)
      signal.addEventListener('abort', aborted, { once: true })
      running.waiting.push(() => {
        signal.removeEventListener('abort', aborted)
        resolve()
      })
    })
  }

  async end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void> {
    await this.state()
    const running = this.#find(process)
    if (running === undefined) return
    const gone = this.ended(process, signal)
    this.#options.clock.after(Math.min(graceMs, endingMs), () => this.#finish(running, 'killed'))
    await gone
  }

  /** As far as it can be told: of another boot nothing is known. */
  async #hasRun({ pid, bootId }: ProcessIdentity): Promise<boolean> {
    return bootId !== (await this.bootId()) || (await wasKilled(this.disk, pid))
  }

  #find(process: ProcessIdentity): RunningJob | undefined {
    const running = this.#running.get(process.pid)
    const { identity } = running ?? {}
    return identity?.bootId === process.bootId && identity.startTime === process.startTime ? running : undefined
  }

  #start({ identity, job, endsAtMs }: KeptJob): void {
    const { clock, nodeName } = this.#options
    const execution: Execution = {
      node: nodeName,
      order: job.env.SLIPWAY_ORDER ?? '',
      step: job.env.SLIPWAY_STEP ?? '',
      argv: job.argv,
      pid: identity.pid,
      bootId: identity.bootId,
      startedMs: clock.monotonicMs(),
      outcome: 'running',
    }
    this.#options.onExecution?.(execution)
    this.executions.push(execution)
    const leftMs = endsAtMs - clock.now().getTime()
    const cancel = clock.after(leftMs, () => void this.#complete(running))
    const running: RunningJob = { identity, job, execution, cancel, waiting: [] }
    this.#running.set(identity.pid, running)
  }

  #duration(job: Job): number {
    if (job.argv[0] === 'pretend-restart-kubelet') return restartMs * this.#slowness
    const { durationOf, random } = this.#options
    if (durationOf) return durationOf(job, random) * this.#slowness
    const [min, max] = this.#options.workMs
    return (min + this.#options.random.next() * (max - min)) * this.#slowness
  }

  /** The job's effect, then its result on the disk, then its end: in that order, as a real one would. */
  async #complete(running: RunningJob): Promise<void> {
    const boot = this.#boot
    const { job } = running
    const exitCode = this.#options.exitCodeOf?.(job) ?? 0
    running.execution.exitCode = exitCode
    if (exitCode === 0) await this.#takeEffect(job.argv)
    if (boot !== this.#boot) return
    const log = (await this.disk.read(job.logPath)) ?? ''
    await this.disk.write(job.logPath, `${log}${job.argv.join(' ')}: exit ${exitCode}\n`.slice(-job.logBytes), 0o600)
    await writeDurably(this.disk, job.resultPath, `${exitCode}\n`)
    if (boot === this.#boot) this.#finish(running, 'exited')
  }

  async #takeEffect(argv: readonly string[]): Promise<void> {
    const [program, what, version] = argv
    if (program === 'pretend-restart-kubelet') {
      await this.#options.onKubeletRestart?.()
      return
    }
    if (program !== 'pretend-upgrade' || version === undefined) return
    const state = await this.state()
    switch (what) {
      case 'control-plane':
        await this.#save({ ...state, apiServer: version })
        return
      case 'image': {
        // What a tag names nobody tells a pretend machine.
        const digest = version.split('@')[1]
        if (digest !== undefined) await this.#save({ ...state, osImage: { image: version, digest } })
        return
      }
      default:
        await this.#save({ ...state, kubelet: version })
    }
  }

  #finish(running: RunningJob, outcome: 'exited' | 'killed' | 'power-lost'): void {
    if (this.#running.get(running.identity.pid) !== running) return
    running.cancel()
    this.#running.delete(running.identity.pid)
    running.execution.outcome = outcome
    const { pid } = running.identity
    if (outcome !== 'power-lost') void (outcome === 'killed' ? keepKilled(this.disk, pid) : forgetJob(this.disk, pid))
    running.execution.endedMs = this.#options.clock.monotonicMs()
    for (const wake of running.waiting) wake()
  }

  async #save(state: PretendState): Promise<void> {
    this.#state = state
    await this.disk.makeFolder(pretendFolder)
    await writePretendState(this.disk, state)
    this.#options.onVersions?.(state)
  }
}

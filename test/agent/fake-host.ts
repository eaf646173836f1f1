import type { Clock } from '../../src/ports/clock.ts'
import type {
  Command,
  CommandResult,
  HeldProcess,
  Host,
  HostFacts,
  Job,
  JobState,
  ProcessIdentity,
} from '../../src/ports/host.ts'
import type { HostFiles } from '../../src/ports/host-files.ts'
import { DiskFiles } from '../../src/sim/disk-files.ts'
import type { MemoryDisk } from '../fakes/memory-disk.ts'

export interface Behaviour {
  readonly ms: number
  readonly exitCode: number
  readonly output?: string
  readonly effect?: () => void
  /** Something of it is there until `killJobs`, though its result is. */
  readonly leavesBehind?: boolean
}

interface Running {
  readonly job: Job
  state: 'held' | 'running' | 'unwritten' | 'left' | 'over'
  hasRun: boolean
  readonly waiters: (() => void)[]
}

/** A machine in memory whose processes outlive an agent but not a power loss. */
export class FakeHost implements Host {
  disk: MemoryDisk
  readonly #clock: Clock
  #boot = 1
  #nextPid = 100
  #files: { readonly disk: MemoryDisk; readonly files: HostFiles } | undefined
  #processes = new Map<number, Running>()
  #hasRoom = true
  readonly #unwritten: (() => void)[] = []
  facts_: HostFacts = { os: 'Pretend 1', kernel: '6.1', architecture: 'amd64', kubelet: 'v1.35.4', versionsOnOffer: [] }
  behave: (job: Job) => Behaviour = () => ({ ms: 1000, exitCode: 0 })
  /** Every job that was let run: its step, and whether it came to its end. */
  readonly executions: { readonly argv: readonly string[]; readonly step: string; ended: boolean }[] = []
  readonly ended_: string[] = []
  /** False: what is killed goes on until `killJobs`, as what waits for storage that is gone. */
  obeysKill = true
  answer: (command: Command) => CommandResult = () => ({ exitCode: 127, stdout: '', stderr: '' })
  reboots = 0
  /** A machine that obeys never answers: its agent goes down with it. */
  onReboot: () => Promise<void> = () => Promise.resolve()
  onHold: () => void = () => undefined

  constructor(disk: MemoryDisk, clock: Clock) {
    this.disk = disk
    this.#clock = clock
  }

  bootId(): Promise<string> {
    return Promise.resolve(`boot-${this.#boot}`)
  }

  uptimeMs(): Promise<number> {
    return Promise.resolve(this.#clock.monotonicMs())
  }

  /** The same object as long as the machine has the same disk: who watches it hears of changes. */
  get files(): HostFiles {
    if (this.#files?.disk !== this.disk) this.#files = { disk: this.disk, files: new DiskFiles(this.disk) }
    return this.#files.files
  }

  run(command: Command): Promise<CommandResult> {
    return Promise.resolve(this.answer(command))
  }

  reboot(): Promise<void> {
    this.reboots += 1
    return this.onReboot()
  }

  facts(): Promise<HostFacts> {
    return Promise.resolve(this.facts_)
  }

  hold(job: Job): Promise<HeldProcess> {
    const pid = this.#nextPid++
    const boot = this.#boot
    const process: Running = { job, state: 'held', hasRun: false, waiters: [] }
    this.#processes.set(pid, process)
    this.onHold()
    return Promise.resolve({
      identity: { pid, startTime: String(pid), bootId: `boot-${boot}` },
      release: () => {
        if (process.state === 'held') this.#run(process)
        return Promise.resolve()
      },
    })
  }

  look(identity: ProcessIdentity, resultPath: string): Promise<JobState> {
    const process = this.#find(identity)
    if (process?.state === 'unwritten') return Promise.resolve({ state: 'unwritten' })
    if (process?.state === 'held' || process?.state === 'running') return Promise.resolve({ state: 'running' })
    const result = this.disk.files.get(resultPath)?.content
    if (result !== undefined) return Promise.resolve({ state: 'exited', exitCode: Number(result) })
    return Promise.resolve({ state: process && !process.hasRun ? 'unrun' : 'gone' })
  }

  ended(identity: ProcessIdentity, signal: AbortSignal): Promise<void> {
    const process = this.#find(identity)
    if (!process || process.state === 'over') return Promise.resolve()
    return new Promise((resolve, reject) => {
      process.waiters.push(resolve)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  }

  end(identity: ProcessIdentity, _graceMs = 0, signal = new AbortController().signal): Promise<void> {
    const process = this.#find(identity)
    if (!process) return Promise.resolve()
    this.ended_.push(process.job.env.SLIPWAY_STEP ?? '')
    if (this.obeysKill) this.#over(process)
    return this.ended(identity, signal)
  }

  /** The agent is dead: what it held ends without having run. */
  dropHeld(): void {
    for (const process of this.#processes.values()) if (process.state === 'held') this.#over(process)
  }

  /** Somebody kills what runs: none of it leaves a result. */
  killJobs(): void {
    for (const process of this.#processes.values()) this.#over(process)
  }

  /** From now on no exit code finds room on the disk. */
  fillUp(): void {
    this.#hasRoom = false
  }

  makeRoom(): void {
    this.#hasRoom = true
    for (const write of this.#unwritten.splice(0)) write()
  }

  losePower(chance: () => number): void {
    for (const process of this.#processes.values()) process.state = 'over'
    this.#processes = new Map()
    this.#boot += 1
    this.disk = this.disk.afterPowerLoss(chance)
  }

  #run(process: Running): void {
    process.state = 'running'
    process.hasRun = true
    const { job } = process
    const execution = { argv: job.argv, step: job.env.SLIPWAY_STEP ?? '', ended: false }
    this.executions.push(execution)
    const { ms, exitCode, output, effect, leavesBehind } = this.behave(job)
    if (output !== undefined) this.disk.putResult(job.logPath, output)
    const over = () => {
      if (process.state !== 'running') return
      execution.ended = true
      effect?.()
      process.state = 'unwritten'
      const write = () => {
        if (process.state !== 'unwritten') return
        this.disk.putResult(job.resultPath, `${exitCode}\n`)
        if (leavesBehind) process.state = 'left'
        else this.#over(process)
      }
      if (this.#hasRoom) write()
      else this.#unwritten.push(write)
    }
    if (ms === 0) over()
    else this.#clock.after(ms, over)
  }

  #over(process: Running): void {
    process.state = 'over'
    for (const wake of process.waiters.splice(0)) wake()
  }

  #find(identity: ProcessIdentity): Running | undefined {
    return identity.bootId === `boot-${this.#boot}` ? this.#processes.get(identity.pid) : undefined
  }
}

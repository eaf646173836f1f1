// The machine this process runs on, or in a container of.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'
import type {
  Command,
  CommandResult,
  HeldProcess,
  Host,
  HostFacts,
  Job,
  JobState,
  ProcessIdentity,
} from '../../ports/host.ts'
import type { HostFiles } from '../../ports/host-files.ts'
import type { Log } from '../../ports/log.ts'
import { readHostFacts } from './facts/host-facts.ts'
import { heldPath, outputPath, reservedPath } from './held-job.ts'
import { cleanEnvironment, type JobKeeper } from './job-keeper.ts'
import { MachineFiles } from './machine-files.ts'
import { ProcessJobs } from './process-jobs.ts'
import { runCommand } from './run-command.ts'
import { relabelling } from './selinux-label.ts'
import { UnitJobs } from './unit-jobs.ts'

export interface LinuxHostOptions {
  readonly disk: Disk
  readonly log: Log
  /** Where the machine's own files are seen; `/` (or '') outside a container. */
  readonly root?: string
  /** Put before every program, such as nsenter with its flags, to run it in the machine's own namespaces. It must exec, not fork. */
  readonly enter?: readonly string[]
}

/** A shutdown that takes longer hangs. */
const shutdownMs = 600_000

const enterAttempts = 5
const enterAgainMs = 1_000

export class LinuxHost implements Host {
  readonly disk: Disk
  readonly files: HostFiles
  readonly #log: Log
  readonly #root: string
  readonly #enter: readonly string[]
  readonly #processes: ProcessJobs
  readonly #units: UnitJobs
  #bootId: Promise<string> | undefined

  constructor({ disk, log, root = '', enter = [] }: LinuxHostOptions) {
    const run = (command: Command, signal: AbortSignal) => this.run(command, signal)
    this.disk = disk
    this.#log = log
    this.#root = root === '/' ? '' : root
    this.#enter = enter
    this.files = new MachineFiles(this.#root, relabelling(this.#root, run))
    this.#processes = new ProcessJobs({ disk, enter })
    this.#units = new UnitJobs({ root: this.#root, disk, files: this.files, run })
  }

  /** As the machine says it: a container's own /proc may tell of another. */
  bootId(): Promise<string> {
    this.#bootId ??= readFile(`${this.#root}/proc/sys/kernel/random/boot_id`, 'utf8').then(
      (text) => text.trim(),
      (error: unknown) => {
        // Read again when it is asked for again.
        this.#bootId = undefined
        throw error
      },
    )
    return this.#bootId
  }

  async uptimeMs(): Promise<number> {
    const path = `${this.#root}/proc/uptime`
    const text = await readFile(path, 'utf8')
    if (!/^[0-9]+(\.[0-9]+)? /.test(text)) {
      throw new SlipwayError('Internal', `${path} does not say how long the machine is up`, {
        nextStep: 'look whether the proc file system is mounted there',
      })
    }
    return Number.parseFloat(text) * 1000
  }

  facts(signal: AbortSignal): Promise<HostFacts> {
    return readHostFacts({ files: this.files, log: this.#log, run: (command, stop) => this.run(command, stop) }, signal)
  }

  /** A machine that is going down cannot be entered: that says nothing of the program, so it is tried again, then thrown. */
  async run(command: Command, signal: AbortSignal): Promise<CommandResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await runCommand(command, { enter: this.#enter, env: cleanEnvironment }, signal)
      if (!isShutOut(result)) return result
      if (attempt === enterAttempts) {
        throw new SlipwayError('CannotReach', `the machine cannot be entered: ${result.stderr.trim()}`, {
          nextStep: 'look whether the machine is going down, and whether the agent shares its processes (hostPID)',
        })
      }
      await delay(enterAgainMs, undefined, { signal })
    }
  }

  async reboot(signal: AbortSignal): Promise<void> {
    const { exitCode, stderr } = await this.run({ argv: ['systemctl', 'reboot'] }, signal)
    const nextStep = 'look on the host what holds the shutdown up: systemctl list-jobs'
    if (exitCode !== 0)
      throw new SlipwayError('RebootMissing', `systemctl reboot failed: ${stderr.trim()}`, { nextStep })
    await delay(shutdownMs, undefined, { signal })
    throw new SlipwayError(
      'RebootMissing',
      `the machine is still up ${shutdownMs / 1000} s after it was told to reboot`,
      {
        nextStep,
      },
    )
  }

  async hold(job: Job, signal: AbortSignal): Promise<HeldProcess> {
    signal.throwIfAborted()
    const keeper = existsSync(`${this.#root}/run/systemd/system`) ? this.#units : this.#processes
    return await keeper.hold(job, await this.bootId(), signal)
  }

  async look(process: ProcessIdentity, resultPath: string): Promise<JobState> {
    // First the job, then the result: in the other order a job that ends in between would look as if it was killed.
    const running = (await this.#isOfThisBoot(process)) && (await this.#keeperOf(process).isRunning(process))
    const result = await this.disk.read(resultPath)
    if (result === undefined) return { state: await this.#withoutResult(process, running, resultPath) }
    if (!/^[0-9]{1,3}\n$/.test(result)) {
      throw new SlipwayError('JournalCorrupt', `${resultPath} is not an exit code`, { nextStep: 'look at the file' })
    }
    return { state: 'exited', exitCode: Number(result) }
  }

  async ended(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
    if (await this.#isOfThisBoot(process)) await this.#keeperOf(process).ended(process, signal)
  }

  async end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void> {
    const isOfThisBoot = await this.#isOfThisBoot(process)
    if (isOfThisBoot) await this.#keeperOf(process).end(process, graceMs, signal)
  }

  async #withoutResult(
    process: ProcessIdentity,
    running: boolean,
    resultPath: string,
  ): Promise<Exclude<JobState['state'], 'exited'>> {
    const isThere = async (path: string) => (await this.disk.bytes(path)) !== undefined
    const isHeld = await isThere(heldPath(resultPath))
    // Of another boot names may be there that were removed before it.
    if (!running) return isHeld && (await this.#isOfThisBoot(process)) ? 'unrun' : 'gone'
    if (isHeld || (await isThere(outputPath(resultPath)))) return 'running'
    return (await isThere(reservedPath(resultPath))) ? 'unwritten' : 'running'
  }

  async #isOfThisBoot({ bootId }: ProcessIdentity): Promise<boolean> {
    return bootId === (await this.bootId())
  }

  #keeperOf({ unit }: ProcessIdentity): JobKeeper {
    return unit === undefined ? this.#processes : this.#units
  }
}

/** What nsenter says of itself, not of the program that it was to run. */
function isShutOut({ exitCode, stderr }: CommandResult): boolean {
  return exitCode === 1 && /^nsenter: (cannot open|reassociate to)/.test(stderr)
}

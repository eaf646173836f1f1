// The machine this process runs on. Jobs are their own sessions and process groups: they outlive the agent, and are found again
// by pid and start time.

import { type ChildProcess, spawn } from 'node:child_process'
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
import { heldJobScript } from './held-job.ts'
import { MachineFiles } from './machine-files.ts'
import { groupIsRunning, isRunning, signalGroup, startTimeOf } from './process-table.ts'
import { runCommand } from './run-command.ts'

export interface LinuxHostOptions {
  readonly disk: Disk
  readonly log: Log
  /** Where the machine's own files are seen; `/` (or '') outside a container. */
  readonly root?: string
  /** Put before every job, such as nsenter with its flags, to run it in the machine's own namespaces. It must exec, not fork. */
  readonly enter?: readonly string[]
}

const pollMs = 200
/** The unit of POSIX `ulimit -f`. */
const blockBytes = 512
const cleanEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
}

export class LinuxHost implements Host {
  readonly disk: Disk
  readonly files: HostFiles
  readonly #log: Log
  readonly #root: string
  readonly #enter: readonly string[]
  /** Our own children by pid: their end is told by an event, an adopted process is looked for. */
  readonly #children = new Map<number, ChildProcess>()
  #bootId: Promise<string> | undefined

  constructor(options: LinuxHostOptions) {
    this.disk = options.disk
    this.#log = options.log
    this.#root = options.root === '/' ? '' : (options.root ?? '')
    this.#enter = options.enter ?? []
    this.files = new MachineFiles(this.#root, () => Promise.resolve())
  }

  bootId(): Promise<string> {
    this.#bootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim())
    return this.#bootId
  }

  facts(signal: AbortSignal): Promise<HostFacts> {
    return readHostFacts({ files: this.files, log: this.#log, run: (command, stop) => this.run(command, stop) }, signal)
  }

  run(command: Command, signal: AbortSignal): Promise<CommandResult> {
    return runCommand(command, { enter: this.#enter, env: cleanEnvironment }, signal)
  }

  async reboot(signal: AbortSignal): Promise<void> {
    const { exitCode, stderr } = await this.run({ argv: ['systemctl', 'reboot'] }, signal)
    if (exitCode !== 0) throw new SlipwayError('RebootMissing', `systemctl reboot failed: ${stderr.trim()}`)
  }

  async hold(job: Job, signal: AbortSignal): Promise<HeldProcess> {
    signal.throwIfAborted()
    const bootId = await this.bootId()
    const [program = '/bin/sh', ...before] = [...this.#enter, '/bin/sh']
    const limits = [job.resultPath, job.logPath, String(Math.ceil(job.logBytes / blockBytes))]
    const child = spawn(program, [...before, '-c', heldJobScript, 'slipway-job', ...limits, ...job.argv], {
      cwd: '/',
      detached: true,
      env: { ...cleanEnvironment, ...job.env },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const pid = await spawned(child, job)
    const startTime = await startTimeOf(pid)
    if (startTime === undefined) throw cannotStart(job, 'it ended at once')
    this.#children.set(pid, child)
    child.once('exit', () => this.#children.delete(pid))
    // The agent may end while the job runs on; who waits for the job holds the event loop meanwhile.
    child.unref()
    return { identity: { pid, startTime, bootId }, release: () => release(child, job) }
  }

  async look(process: ProcessIdentity, resultPath: string): Promise<JobState> {
    // First the process, then the result: in the other order a job that ends in between would look as if it was killed.
    const running = await isRunning(process, await this.bootId())
    if (running) return { state: 'running' }
    const result = await this.disk.read(resultPath)
    if (result === undefined) return { state: 'gone' }
    if (!/^[0-9]{1,3}\n$/.test(result)) {
      throw new SlipwayError('JournalCorrupt', `${resultPath} is not an exit code`, { nextStep: 'look at the file' })
    }
    return { state: 'exited', exitCode: Number(result) }
  }

  async ended(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
    const child = this.#children.get(process.pid)
    const bootId = await this.bootId()
    if (!(await isRunning(process, bootId))) return
    if (child) return exited(child, signal)
    while (await isRunning(process, bootId)) await delay(pollMs, undefined, { signal })
  }

  async end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void> {
    const bootId = await this.bootId()
    if (process.bootId !== bootId) return
    const startTime = await startTimeOf(process.pid)
    // Another process has this pid by now. As long as one of the group lived, its number could not have been given away.
    if (startTime !== undefined && startTime !== process.startTime) return
    if (!signalGroup(process.pid, 'SIGTERM')) return
    for (let waitedMs = 0; waitedMs < graceMs; waitedMs += pollMs) {
      if (!(await groupIsRunning(process.pid))) return
      await delay(Math.min(pollMs, graceMs - waitedMs), undefined, { signal })
    }
    signalGroup(process.pid, 'SIGKILL')
    while (await groupIsRunning(process.pid)) await delay(pollMs, undefined, { signal })
  }
}

function spawned(child: ChildProcess, job: Job): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(job, error.message, error)))
    child.once('spawn', () => resolve(child.pid ?? 0))
  })
}

function release(child: ChildProcess, job: Job): Promise<void> {
  return new Promise((resolve, reject) => {
    const { stdin } = child
    if (!stdin) {
      reject(cannotStart(job, 'it has no standard input'))
      return
    }
    stdin.once('error', (error) => reject(cannotStart(job, error.message, error)))
    stdin.end('go\n', () => resolve())
  })
}

function exited(child: ChildProcess, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      child.unref()
      child.off('exit', onExit)
      signal.removeEventListener('abort', onAbort)
      finish()
    }
    const onExit = () => settle(resolve)
    const onAbort = () => settle(() => reject(signal.reason))
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else if (signal.aborted) reject(signal.reason)
    else {
      child.ref()
      child.once('exit', onExit)
      signal.addEventListener('abort', onAbort, { once: true })
    }
  })
}

function cannotStart(job: Job, why: string, cause?: unknown): SlipwayError {
  return new SlipwayError('Internal', `cannot start ${job.argv[0] ?? 'an empty command'}: ${why}`, { cause })
}

// Jobs of a host without systemd: their own sessions and process groups, found again by pid and start time.

import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Disk } from '../../ports/disk.ts'
import type { HeldProcess, Job, ProcessIdentity } from '../../ports/host.ts'
import { heldJobScript, jobArguments } from './held-job.ts'
import { cannotStart, cleanEnvironment, type JobKeeper, reserveResult } from './job-keeper.ts'
import { groupIsRunning, signalGroup, startTimeOf } from './process-table.ts'

export interface ProcessJobsOptions {
  readonly disk: Disk
  readonly enter: readonly string[]
}

const pollMs = 200

export class ProcessJobs implements JobKeeper {
  readonly #disk: Disk
  readonly #enter: readonly string[]
  /** Our own children by pid: their end is told by an event, an adopted process is looked for. */
  readonly #children = new Map<number, ChildProcess>()

  constructor({ disk, enter }: ProcessJobsOptions) {
    this.#disk = disk
    this.#enter = enter
  }

  async hold(job: Job, bootId: string): Promise<HeldProcess> {
    await reserveResult(this.#disk, job)
    const [program = '/bin/sh', ...before] = [...this.#enter, '/bin/sh']
    const child = spawn(program, [...before, '-c', heldJobScript, 'slipway-job', ...jobArguments(job)], {
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

  async isRunning({ pid, startTime }: ProcessIdentity): Promise<boolean> {
    return (await startTimeOf(pid)) === startTime
  }

  async ended(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
    const child = this.#children.get(process.pid)
    if (!(await this.isRunning(process))) return
    if (child) return exited(child, signal)
    while (await this.isRunning(process)) await delay(pollMs, undefined, { signal })
  }

  async end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void> {
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

// Jobs of a host with systemd: each a transient unit, started by the host's own pid 1. So it lives outside of the agent's
// cgroup and survives the agent, its pod and the container runtime.

import { constants } from 'node:fs'
import { type FileHandle, open, stat, unlink } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { Disk } from '../../ports/disk.ts'
import type { Command, CommandResult, HeldProcess, Job, ProcessIdentity } from '../../ports/host.ts'
import type { HostFiles } from '../../ports/host-files.ts'
import { systemCode, unlessMissing } from '../disk/disk-error.ts'
import { gatePath, heldUnitScript, jobArguments } from './held-job.ts'
import { cannotStart, cleanEnvironment, type JobKeeper, reserveResult } from './job-keeper.ts'
import { machinePath } from './machine-path.ts'
import { parseUnitState, type UnitState } from './unit-state.ts'

export interface UnitJobsOptions {
  readonly root: string
  readonly disk: Disk
  readonly files: HostFiles
  run(command: Command, signal: AbortSignal): Promise<CommandResult>
}

/** Behind the file notification, should it fail. */
const checkMs = 5_000
const gateWaitMs = 10_000
const gatePollMs = 5
/** What was just started comes to its gate, and what was held by who died ends, sooner. */
const clearWaitMs = 3_000
const clearPollMs = 100
/** How long a machine that goes down is given to do so, before a unit that cannot be started counts as that. */
const shutdownMs = 600_000
const never = new AbortController().signal

export class UnitJobs implements JobKeeper {
  readonly #options: UnitJobsOptions
  /** Held open until the job is released: when the agent dies they close, and what is held ends. */
  readonly #gates = new Map<string, FileHandle>()

  constructor(options: UnitJobsOptions) {
    this.#options = options
  }

  async hold(job: Job, bootId: string, signal: AbortSignal): Promise<HeldProcess> {
    const unit = `${job.name}.service`
    await this.#clear(unit, job, signal)
    await reserveResult(this.#options.disk, job)
    const started = await this.#options.run({ argv: startArguments(unit, job) }, signal)
    if (started.exitCode !== 0) {
      await this.#awaitShutdown(signal)
      throw cannotStart(job, started.stderr.trim())
    }
    try {
      const { mainPid, invocation } = await this.#look(unit, signal)
      this.#gates.set(unit, await this.#openGate(unit, job, signal))
      return {
        identity: { pid: mainPid, startTime: invocation, bootId, unit },
        release: () => this.#release(unit, job),
      }
    } catch (error) {
      await this.#systemctl(['stop', unit], never)
      throw error
    }
  }

  async isRunning({ unit = '', startTime }: ProcessIdentity): Promise<boolean> {
    const { isRunning, invocation } = await this.#look(unit, never)
    return isRunning && invocation === startTime
  }

  /** The unit is unloaded as soon as it has ended, and its file goes with it. */
  async ended(process: ProcessIdentity, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const stop = AbortSignal.any([signal, over.signal])
    let ring = (): void => undefined
    const file = `/run/systemd/transient/${process.unit}`
    // Where nothing can be watched the check behind it does.
    const watching = this.#options.files.watch([file], () => ring(), stop).catch(() => undefined)
    try {
      for (;;) {
        const rung = new Promise<void>((resolve) => {
          ring = resolve
        })
        // While systemd gives no answer, as when it executes itself anew, nothing is known of an end.
        if (!(await this.isRunning(process).catch(() => true))) return
        await Promise.race([rung, delay(checkMs, undefined, { signal: stop })])
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      over.abort()
      await watching
    }
  }

  async end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void> {
    const { unit = '' } = process
    await this.#gates.get(unit)?.close()
    this.#gates.delete(unit)
    if (!(await this.isRunning(process))) return
    await this.#systemctl(['kill', '--signal=SIGTERM', unit], signal)
    if (graceMs > 0 && (await this.#endsWithin(process, graceMs, signal))) return
    await this.#systemctl(['kill', '--signal=SIGKILL', unit], signal)
    await this.ended(process, signal)
  }

  async #endsWithin(process: ProcessIdentity, ms: number, signal: AbortSignal): Promise<boolean> {
    const limit = AbortSignal.timeout(ms)
    try {
      await this.ended(process, AbortSignal.any([signal, limit]))
      return true
    } catch (error) {
      if (limit.aborted && !signal.aborted) return false
      throw error
    }
  }

  async #look(unit: string, signal: AbortSignal): Promise<UnitState> {
    const { exitCode, stdout, stderr } = await this.#systemctl(
      [
        'show',
        unit,
        '--property=ActiveState',
        '--property=InvocationID',
        '--property=MainPID',
        '--property=TasksCurrent',
      ],
      signal,
    )
    if (exitCode !== 0) {
      throw new SlipwayError('Internal', `systemd says nothing of ${unit}: ${stderr.trim()}`, {
        nextStep: 'look on the host whether systemctl works',
      })
    }
    return parseUnitState(stdout)
  }

  /**
   * An earlier life may have died before it journalled a unit of this name: that waits at its gate, or ends. One that was released is
   * another agent's, and may be in the middle of what must not be cut off.
   */
  async #clear(unit: string, job: Job, signal: AbortSignal): Promise<void> {
    const untilMs = performance.now() + clearWaitMs
    for (;;) {
      signal.throwIfAborted()
      const isLast = performance.now() >= untilMs
      // While systemd gives no answer, as when it executes itself anew, one may run.
      const state = await this.#look(unit, signal).catch((error: unknown) => {
        if (isLast) throw error
        return undefined
      })
      if (state && !state.isRunning) return
      if (state && (await this.#takeGate(job))) {
        await this.#systemctl(['stop', unit], signal)
        return
      }
      if (isLast) throw startedElsewhere(unit)
      await delay(clearPollMs, undefined, { signal })
    }
  }

  /** Who takes the gate away may release the unit or stop it, and nobody else can any more; false where it is gone. */
  async #takeGate(job: Job, mine?: FileHandle): Promise<boolean> {
    const gate = await machinePath(this.#options.root, gatePath(job.resultPath))
    const found = await stat(gate).catch(unlessMissing)
    if (!found || (mine && (await mine.stat()).ino !== found.ino)) return false
    const taken = await unlink(gate).then(() => true, unlessMissing)
    return taken ?? false
  }

  /** Opened for writing as soon as the unit reads from it; refused before. */
  async #openGate(unit: string, job: Job, signal: AbortSignal): Promise<FileHandle> {
    const gate = await machinePath(this.#options.root, gatePath(job.resultPath))
    for (let waitedMs = 0; ; waitedMs += gatePollMs) {
      signal.throwIfAborted()
      try {
        return await open(gate, constants.O_WRONLY | constants.O_NONBLOCK)
      } catch (error) {
        const code = systemCode(error)
        if (code !== 'ENOENT' && code !== 'ENXIO') throw error
        if (waitedMs >= gateWaitMs) throw cannotStart(job, `${unit} does not come to its gate`, error)
      }
      await delay(gatePollMs, undefined, { signal })
    }
  }

  async #release(unit: string, job: Job): Promise<void> {
    const gate = this.#gates.get(unit)
    if (!gate) throw cannotStart(job, `${unit} is not held any more`)
    this.#gates.delete(unit)
    try {
      if (!(await this.#takeGate(job, gate))) throw cannotStart(job, `${unit} does not wait any more`)
      await gate.write('go\n')
    } catch (error) {
      throw error instanceof SlipwayError ? error : cannotStart(job, `${unit} does not wait any more`, error)
    } finally {
      await gate.close()
    }
  }

  /** A machine that goes down starts nothing; that is no failure of the job. The agent ends with the machine. */
  async #awaitShutdown(signal: AbortSignal): Promise<void> {
    const { stdout } = await this.#systemctl(['is-system-running'], signal)
    if (stdout.trim() === 'stopping') await delay(shutdownMs, undefined, { signal })
  }

  #systemctl(args: readonly string[], signal: AbortSignal): Promise<CommandResult> {
    return this.#options.run({ argv: ['systemctl', ...args] }, signal)
  }
}

function startedElsewhere(unit: string): SlipwayError {
  return new SlipwayError('StartedElsewhere', `${unit} runs already, and this agent did not start it: it is let be`, {
    nextStep: `look on the host who started it: systemctl status ${unit}; leave one agent there`,
  })
}

/**
 * KillMode mixed: at a shutdown the job itself is not told but has the time to end well, and what a job leaves behind in the
 * background ends with it. The unit is unloaded when it ends, also when it failed.
 */
export function startArguments(unit: string, job: Job): readonly string[] {
  const { SLIPWAY_ORDER: order = '?', SLIPWAY_STEP: step = '?' } = job.env
  const environment = Object.entries({ ...cleanEnvironment, ...job.env })
  return [
    ...['systemd-run', '--quiet', '--collect', `--unit=${unit}`, `--description=Slipway order ${order}, step ${step}`],
    ...['--property=KillMode=mixed', '--property=TimeoutStopSec=90', '--property=WorkingDirectory=/'],
    ...environment.map(([name, value]) => `--setenv=${name}=${value}`),
    ...['--', '/bin/sh', '-c', heldUnitScript, 'slipway-job', ...jobArguments(job)].map(literal),
  ]
}

/** systemd puts variables into what it starts; this is how it is told not to. */
function literal(argument: string): string {
  return argument.replaceAll('$', '$$$$')
}

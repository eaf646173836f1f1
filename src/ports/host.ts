import type { AgentStatus } from '../api/node-state.ts'
import type { Disk } from './disk.ts'
import type { HostFiles } from './host-files.ts'

/** Names one process for good: a pid alone is reused, a pid with its start time within one boot is not. */
export interface ProcessIdentity {
  readonly pid: number
  /** As the kernel counts it (field 22 of /proc/PID/stat), or the unit's invocation id; opaque, compared for equality only. */
  readonly startTime: string
  readonly bootId: string
  /** The transient systemd unit it runs in, where the host has systemd: then the unit is looked at, not the pid. */
  readonly unit?: string | undefined
}

export interface Job {
  /** Names the job on the host, unique for each start: the transient unit is called so. Letters, digits and `-` only. */
  readonly name: string
  /** The program and its arguments; never a shell string. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /**
   * Standard output and error are appended here: the first `logBytes` of them, and after a line that says so the last 64 KiB. As long
   * as it runs it may be some MiB more; what is written at the end is there at once.
   */
  readonly logPath: string
  readonly logBytes: number
  /** The exit code is written here, atomically and fsynced, when the job ends by itself. */
  readonly resultPath: string
}

/** A process that exists but waits: nothing of the job has run yet. */
export interface HeldProcess {
  readonly identity: ProcessIdentity
  /**
   * Lets it run. If the caller dies before this, the process ends without having run anything: so its identity can be
   * journalled first, and no copy is ever lost from sight.
   */
  release(): Promise<void>
}

export type JobState =
  | { readonly state: 'running' }
  /** It has ended by itself, but its exit code finds no room on the disk: it is written as soon as there is some. */
  | { readonly state: 'unwritten' }
  /** It ended by itself. */
  | { readonly state: 'exited'; readonly exitCode: number }
  /** It is not there and was never let run: nothing of it has run. Known only in the boot in which it was started. */
  | { readonly state: 'unrun' }
  /** It is not there, may have run and left no result: killed, or cut off by a reboot. */
  | { readonly state: 'gone' }

/** A short program that is run to its end: to look at something, or to change something small. */
export interface Command {
  /** The program and its arguments; never a shell string. */
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly timeoutMs?: number
  /** Most bytes kept of each output, the first ones. Default 1 MiB. */
  readonly outputBytes?: number
}

export interface CommandResult {
  /** 127 where the program is not there; 128 and more where a signal ended it. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** What a look at the machine shows; published in NodeState.status.agent.facts. */
export type HostFacts = AgentStatus['facts']

/** The machine under the agent: the real one, or a pretend one. */
export interface Host {
  /** Where the journal lives. */
  readonly disk: Disk
  /** The machine's own files. */
  readonly files: HostFiles
  /** A new one after each boot; what proves a reboot. */
  bootId(): Promise<string>
  /**
   * The machine's own count, which goes on in one boot whatever becomes of the agent and of the wall clock. Compared within one
   * boot only.
   */
  uptimeMs(): Promise<number>
  facts(signal: AbortSignal): Promise<HostFacts>
  /** Runs it on the machine, in its own namespaces. Throws CommandTimedOut after `timeoutMs` (default one minute). */
  run(command: Command, signal: AbortSignal): Promise<CommandResult>
  /**
   * Asks the machine to boot anew. A real one takes the agent down before this returns; RebootMissing where it is still up after
   * a time that no shutdown takes. What comes after is another boot id, or nothing.
   */
  reboot(signal: AbortSignal): Promise<void>
  /**
   * Starts the job, held until `release`: a transient systemd unit, or its own process group. It outlives the agent. Throws DiskFull
   * where there is no room for its result: a job that cannot say how it ended is not begun.
   */
  hold(job: Job, signal: AbortSignal): Promise<HeldProcess>
  look(process: ProcessIdentity, resultPath: string): Promise<JobState>
  /** Resolves when the process is not running any more (at once if it is not); a job of an earlier boot is not running. */
  ended(process: ProcessIdentity, signal: AbortSignal): Promise<void>
  /** Ends all processes of the job: SIGTERM, and SIGKILL after the grace. Resolves when it is gone. */
  end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void>
}

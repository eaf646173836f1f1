import type { Disk } from './disk.ts'

/** Names one process for good: a pid alone is reused, a pid with its start time within one boot is not. */
export interface ProcessIdentity {
  readonly pid: number
  /** As the kernel counts it (field 22 of /proc/PID/stat); opaque, compared for equality only. */
  readonly startTime: string
  readonly bootId: string
}

export interface Job {
  /** The program and its arguments; never a shell string. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Standard output and error are appended here, at most `logBytes` of them. */
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
  /** It ended by itself. */
  | { readonly state: 'exited'; readonly exitCode: number }
  /** It is not there and left no result: killed, or cut off by a reboot. */
  | { readonly state: 'gone' }

/** What a look at the machine shows; published in NodeState.status.agent.facts. */
export interface HostFacts {
  readonly os: string
  readonly kernel: string
  readonly architecture: string
  readonly kubelet?: string
  /** On a control-plane node: the version of its own API server. */
  readonly apiServer?: string
  /** Kubernetes versions this host could install now. */
  readonly versionsOnOffer: readonly string[]
}

/** The machine under the agent: the real one, or a pretend one. */
export interface Host {
  readonly disk: Disk
  /** A new one after each boot; what proves a reboot. */
  bootId(): Promise<string>
  facts(signal: AbortSignal): Promise<HostFacts>
  /** Starts the job in its own process group, held until `release`. It outlives the agent. */
  hold(job: Job, signal: AbortSignal): Promise<HeldProcess>
  look(process: ProcessIdentity, resultPath: string): Promise<JobState>
  /** Resolves when the process is not running any more (at once if it is not); a job of an earlier boot is not running. */
  ended(process: ProcessIdentity, signal: AbortSignal): Promise<void>
  /** Ends the whole process group: SIGTERM, and SIGKILL after the grace. Resolves when it is gone. */
  end(process: ProcessIdentity, graceMs: number, signal: AbortSignal): Promise<void>
}

// What the command line needs from the outside. Main hands it in, so that every command runs in a test without a process.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import type { RecordedRun } from '../api/simulation-record.ts'
import type { ClusterSnapshot } from '../api/snapshot.ts'
import type { Drain } from '../core/drain/drain-policy.ts'
import type { PlanReport } from '../core/plan/plan-report.ts'
import type { Sights } from '../core/preflight/sights.ts'
import type { Offers } from '../core/versions/offers.ts'
import type { BackupShelf } from '../ports/backup-shelf.ts'
import type { Bundles } from '../ports/bundles.ts'
import type { Clock } from '../ports/clock.ts'
import type { Compression } from '../ports/compression.ts'
import type { KeptOnHost } from '../ports/host-memory.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { LocalClient } from '../ports/local-server.ts'
import type { Random } from '../ports/random.ts'
import type { SignedReleases } from '../ports/signed-releases.ts'
import type { ProgressSink } from './progress/sink.ts'

export interface Terminal {
  write(text: string): void
  /** Read afresh for each drawing: a window can be resized. */
  readonly columns: number
  readonly rows: number
  readonly isTTY: boolean
  readonly color: boolean
}

export interface Connection {
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
}

/** YAML is a library's business, and libraries are wired in main. */
export interface Yaml {
  parse(text: string): unknown
  /** Of a file with several documents; those without content are left out. */
  documents(text: string): readonly unknown[]
  print(value: unknown): string
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export interface OperatorOptions extends Connection {
  readonly namespace: string
  /** How its name on the Lease begins; main makes it unique to the process. */
  readonly identity?: string | undefined
  readonly leaseName: string
  readonly metricsAddress: string
  /** A file that the audit record is appended to; absent = it goes to the log. */
  readonly auditLog?: string | undefined
  readonly nodeName?: string | undefined
  readonly podName?: string | undefined
  readonly logLevel: LogLevel
}

export interface AgentOptions extends Connection {
  readonly nodeName: string
  readonly stateDir: string
  /** Where the host's root is mounted; `/` = the agent runs on the host itself. */
  readonly hostRoot: string
  /** Absent: every driver. */
  readonly only?: 'reboots' | undefined
  readonly logLevel: LogLevel
}

export interface DemoOptions {
  readonly nodes: number
  readonly seed: number
  /** Virtual seconds per second; Infinity = as fast as it goes. */
  readonly speed: number
  /** Served while it runs; absent = none. */
  readonly console?: DemoConsole | undefined
}

export interface DemoConsole {
  readonly port: number
  /** Whether the cluster goes on after the upgrade, until stopped. */
  readonly stays: boolean
  readonly onReady: (url: string) => void
  /** The upgrade has ended, and the cluster goes on. */
  readonly onEnd: (figures: RolloutFigures) => void
}

export interface ConsoleOptions extends Connection {
  readonly port: number
  readonly namespace: string
  readonly onReady: (url: string) => void
}

/** What one simulated rollout came to. */
export interface RolloutFigures {
  readonly phase: string
  readonly nodes: number
  readonly violations: readonly Violation[]
  readonly makespanSeconds: number
  readonly idealSeconds: number
  readonly ratio: number
  readonly requestsPerNode: number
  readonly seed: number
}

export interface Violation {
  readonly seed: number
  readonly rule: string
  readonly message: string
}

export interface SimulateOptions {
  readonly nodes?: number | undefined
  readonly podsPerNode: number
  readonly faults: 'none' | 'all' | readonly string[]
  readonly seeds: { readonly first: number; readonly last: number }
  readonly maxUnavailable: number | string
  /** Parts of the histories with faults that are left out. */
  readonly without?: readonly string[] | undefined
  /** Of the first history that breaks a rule, find the shortest that still does. */
  readonly shrink?: boolean
  /** Also tell why things waited. */
  readonly explain?: boolean
  /** Also take a digest of every write. */
  readonly record?: boolean
}

/** One reason for which nodes or updates waited, over all runs. */
export interface ExplainedWait {
  readonly code: string
  readonly times: number
  readonly totalSeconds: number
  readonly longest: { readonly seconds: number; readonly who: string; readonly message: string }
}

/** The shortest history found that breaks the same rule. */
export interface ShrunkRun {
  readonly seed: number
  readonly rule: string
  readonly message: string
  readonly without: readonly string[]
  /** What struck, in order. */
  readonly faults: readonly { readonly kind: string; readonly atSeconds: number; readonly where: string }[]
  readonly nodes: number
  /** What else the history has, in the words of --without. */
  readonly left: readonly string[]
}

export interface SimulateResult {
  readonly shrunk?: ShrunkRun | undefined
  readonly recorded?: readonly RecordedRun[] | undefined
  readonly waits?: readonly ExplainedWait[] | undefined
  readonly runs: number
  readonly violations: readonly Violation[]
  /** How often each kind of fault hit, over all runs. */
  readonly faults?: Readonly<Record<string, number>> | undefined
  /** In how many runs two kinds of fault struck (`conflict + power-loss`), or one alone (`conflict`). */
  readonly together?: Readonly<Record<string, number>> | undefined
  /** The figures of each run, where the runs are few enough to list. */
  readonly rollouts?: readonly RolloutFigures[] | undefined
}

export interface PlanOptions {
  readonly snapshot: ClusterSnapshot
  readonly update: { readonly name: string; readonly spec: DirectUpdateSpec }
  readonly seed: number
  /** By default as many as the size of the cluster allows. */
  readonly rehearsals?: number
  /** By default every node of a cluster of up to a hundred, of a larger one sixty. */
  readonly nodesAtMost?: number
  /** Besides what the hosts say. */
  readonly offers?: Offers
  /** Told after each rehearsal, and how many are planned. */
  readonly onRehearsal?: (done: number, of: number) => void
}

export interface SimAgentsOptions extends Connection {
  readonly selector?: string | undefined
  readonly workMs: number
  readonly stateDir: string
  readonly offers?: readonly string[] | undefined
  /** Also play the kubelets of these nodes. */
  readonly kubelets: boolean
}

export interface ShelfOptions {
  readonly etcdutl?: string | undefined
  readonly etcd?: string | undefined
  readonly stateDir: string
  /** Where the host's root is mounted; `/` = it runs on the host itself. */
  readonly hostRoot: string
  readonly manifests: string
}

export interface ForgetOptions {
  readonly stateDir: string
  /** Where the host's root is mounted; `/` = it runs on the host itself. */
  readonly hostRoot: string
}

export interface CliDependencies {
  readonly out: Terminal
  readonly err: Terminal
  readonly clock: Clock
  readonly random: Random
  /** Loaded when asked for. */
  yaml(): Promise<Yaml>
  readonly version: string
  /** How it was called: `slipway` or `kubectl slipway`. */
  readonly program: string
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  connect(connection: Connection): Promise<KubeApi>
  /** The names of the contexts there are in the kubeconfig. */
  contexts(connection: Connection): Promise<readonly string[]>
  /** Which versions there are by others than the hosts, with the rights of whoever asks; registries are left to the operator. */
  versionsOnOffer(api: KubeApi, namespace: string, signal: AbortSignal): Promise<Offers>
  /** A look at what the preflight checks need, with the rights of whoever asks. */
  observe(
    api: KubeApi,
    question: {
      readonly spec: DirectUpdateSpec
      readonly serverVersion: string
      readonly concerns: (node: string) => boolean
      readonly drain: Drain
    },
    signal: AbortSignal,
  ): Promise<Sights>
  readFile(path: string): Promise<string>
  writeFile(path: string, text: string): Promise<void>
  /** The agent on this machine. */
  local(): Promise<LocalClient>
  compression(): Promise<Compression>
  bundles(): Promise<Bundles>
  signedReleases(): Promise<SignedReleases>
  backupShelf(options: ShelfOptions): Promise<BackupShelf>
  /** Asks the person at the terminal; false where there is none. */
  confirm(question: string): Promise<boolean>
  /** SHA-256 in lower-case hexadecimal. */
  sha256(text: string): string
  /** The generated CustomResourceDefinitions as one YAML text of several documents. */
  crds(): Promise<string>
  /** The same of other systems' kinds. */
  foreignCrds(): Promise<string>
  runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void>
  runAgent(options: AgentOptions, signal: AbortSignal): Promise<void>
  /** Takes away what an agent kept on this machine; resolves to what stays. */
  forgetHost(options: ForgetOptions, signal: AbortSignal): Promise<readonly KeptOnHost[]>
  runDemo(options: DemoOptions, sink: ProgressSink, signal: AbortSignal): Promise<RolloutFigures>
  /** Serves the console until aborted. */
  runConsole(options: ConsoleOptions, signal: AbortSignal): Promise<void>
  /** Shows an address in the person's browser; false where there is none. */
  openBrowser(url: string): Promise<boolean>
  /** Whether the console's page is beside this program. */
  hasPage(): Promise<boolean>
  /** Called before a whole cluster is read into memory. */
  spareMemory(): void
  runPlan(options: PlanOptions, signal: AbortSignal): Promise<PlanReport>
  runSimulate(options: SimulateOptions, onRun: (runsDone: number) => void, signal: AbortSignal): Promise<SimulateResult>
  runSimAgents(options: SimAgentsOptions, signal: AbortSignal): Promise<void>
}

// What the command line needs from the outside. Main hands it in, so that every command runs in a test without a process.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import type { RecordedRun } from '../api/simulation-record.ts'
import type { ClusterSnapshot } from '../api/snapshot.ts'
import type { Drain } from '../core/drain/drain-policy.ts'
import type { PlanReport } from '../core/plan/plan-report.ts'
import type { Sights } from '../core/preflight/sights.ts'
import type { Bundles } from '../ports/bundles.ts'
import type { Clock } from '../ports/clock.ts'
import type { Compression } from '../ports/compression.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { LocalClient } from '../ports/local-server.ts'
import type { Random } from '../ports/random.ts'
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
  print(value: unknown): string
}

export interface OperatorOptions extends Connection {
  readonly namespace: string
  /** How its name on the Lease begins; main makes it unique to the process. */
  readonly identity?: string | undefined
  readonly leaseName: string
  readonly metricsAddress: string
  readonly nodeName?: string | undefined
  readonly podName?: string | undefined
}

export interface AgentOptions extends Connection {
  readonly nodeName: string
  readonly stateDir: string
  /** Where the host's root is mounted; `/` = the agent runs on the host itself. */
  readonly hostRoot: string
}

export interface DemoOptions {
  readonly nodes: number
  readonly seed: number
  /** Virtual seconds per second; Infinity = as fast as it goes. */
  readonly speed: number
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

export interface SimulateResult {
  readonly recorded?: readonly RecordedRun[] | undefined
  readonly waits?: readonly ExplainedWait[] | undefined
  readonly runs: number
  readonly violations: readonly Violation[]
  /** How often each kind of fault hit, over all runs. */
  readonly faults?: Readonly<Record<string, number>> | undefined
  /** The figures of each run, where the runs are few enough to list. */
  readonly rollouts?: readonly RolloutFigures[] | undefined
}

export interface PlanOptions {
  readonly snapshot: ClusterSnapshot
  readonly update: { readonly name: string; readonly spec: DirectUpdateSpec }
  readonly seed: number
  /** By default as many as the size of the cluster allows. */
  readonly rehearsals?: number
}

export interface SimAgentsOptions extends Connection {
  readonly selector?: string | undefined
  readonly workMs: number
  readonly stateDir: string
  readonly offers?: readonly string[] | undefined
  /** Also play the kubelets of these nodes. */
  readonly kubelets: boolean
}

export interface CliDependencies {
  readonly out: Terminal
  readonly err: Terminal
  readonly clock: Clock
  readonly random: Random
  /** Loaded when asked for. */
  yaml(): Promise<Yaml>
  readonly version: string
  /** Aborted by SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  connect(connection: Connection): Promise<KubeApi>
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
  /** SHA-256 in lower-case hexadecimal. */
  sha256(text: string): string
  /** The generated CustomResourceDefinitions as one YAML text of several documents. */
  crds(): Promise<string>
  runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void>
  runAgent(options: AgentOptions, signal: AbortSignal): Promise<void>
  runDemo(options: DemoOptions, sink: ProgressSink, signal: AbortSignal): Promise<RolloutFigures>
  runPlan(options: PlanOptions, signal: AbortSignal): Promise<PlanReport>
  runSimulate(options: SimulateOptions, onRun: (runsDone: number) => void, signal: AbortSignal): Promise<SimulateResult>
  runSimAgents(options: SimAgentsOptions, signal: AbortSignal): Promise<void>
}

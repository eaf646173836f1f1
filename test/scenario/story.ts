// A story: the real operator and the real agents on a simulated cluster, something that happens, and how it must end. Every
// story is held against the rules of the house as well; one that fails names the seed it was told with.

import { expect, it } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import type { Toleration } from '../../src/api/kube.ts'
import { inventedNodes } from '../../src/main/simulation/rollout.ts'
import {
  type SimulatedCluster,
  type SimulationOptions,
  simulatedCluster,
} from '../../src/main/simulation/simulated-cluster.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { RuleChecker } from '../../src/sim/rules/rule-checker.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { createOperatorPods } from '../../src/sim/workloads.ts'
import { type Crash, CrashPoint } from './crash-point.ts'
import { StoryCluster } from './story-cluster.ts'
import { Person } from './story-person.ts'
import { Updates } from './story-update.ts'

export interface StoryOptions {
  /** So many, the first of them the control plane; or each by itself. */
  readonly nodes: number | readonly NodeSpec[]
  /** So many, wherever the scheduler puts them. By default one, tied to the first node: so w1 comes before w2. */
  readonly operators?: number
  /** Instead of those of the chart. */
  readonly operatorTolerations?: readonly Toleration[]
  readonly crash?: Crash
  /** Nodes whose agent cannot start until the story says so. */
  readonly withoutAgent?: readonly string[]
  readonly driversOf?: SimulationOptions['driversOf']
  readonly sideTasks?: SimulationOptions['sideTasks']
  readonly sealing?: SimulationOptions['sealing']
  readonly web?: SimulationOptions['web']
  readonly stores?: SimulationOptions['stores']
  readonly registry?: SimulationOptions['registry']
  readonly versionsOnOffer?: SimulationOptions['versionsOnOffer']
  readonly metrics?: SimulationOptions['metrics']
  readonly audit?: SimulationOptions['audit']
  /** How many pods fit on a node. */
  readonly podCapacity?: number
  readonly podStartMs?: SimulationOptions['podStartMs']
  readonly seed?: number
}

export interface Story {
  readonly cluster: StoryCluster
  readonly update: Updates
  readonly person: Person
  readonly rules: RuleChecker
  readonly faults: CrashPoint
}

const defaultSeed = Number(process.env.SLIPWAY_STORY_SEED ?? 1)

export function scenario(name: string, options: StoryOptions, tell: (story: Story) => Promise<void>): void {
  it(name, () => play(options, tell))
}

/** Tells the story once. */
export async function play(options: StoryOptions, tell: (story: Story) => Promise<void>): Promise<void> {
  const { seed = defaultSeed } = options
  const faults = new CrashPoint(options.crash)
  const stop = new AbortController()
  let cluster: StoryCluster | undefined
  try {
    const simulated = build(options, seed, faults, () => cluster)
    cluster = new StoryCluster(simulated)
    const api = simulated.cluster.client('person')
    const person = new Person(api, stop.signal)
    for (const node of options.withoutAgent ?? []) faults.keepAway(node)
    simulated.cluster.start()
    await install(api, simulated, options, stop.signal)
    await comeUp(cluster, options)
    faults.arm()
    await tell({ cluster, person, faults, rules: simulated.rules, update: new Updates(cluster, api, stop.signal) })
    judge(simulated)
    if (options.crash) expect(faults.struck, 'the crash the story is about').toBeDefined()
  } catch (error) {
    const atMs = Math.round(cluster?.sim.clock.monotonicMs() ?? 0)
    const about = `seed ${seed}, at ${atMs} ms${faults.struck ? `, ${faults.struck} was killed` : ''}`
    throw new Error(`${about}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  } finally {
    stop.abort()
  }
}

function build(
  {
    nodes,
    driversOf,
    sideTasks,
    sealing,
    web,
    stores,
    registry,
    versionsOnOffer,
    metrics,
    audit,
    podCapacity,
    podStartMs = [500, 2_000],
  }: StoryOptions,
  seed: number,
  faults: CrashPoint,
  cluster: () => StoryCluster | undefined,
): SimulatedCluster {
  return simulatedCluster({
    seed,
    nodes: typeof nodes === 'number' ? inventedNodes(nodes) : nodes,
    latencyMs: [5, 50],
    workMs: [5_000, 10_000],
    podStartMs,
    podStopMs: [500, 2_000],
    log: silentLog,
    version: '0.0.0',
    slack: { staleMs: 5_000, requestMs: 2_000 },
    exitCodeOf: (job, node) => (mayFail(job.env.SLIPWAY_STEP) && cluster()?.failing.has(node) ? 1 : 0),
    faults: () => faults,
    ...(driversOf && { driversOf }),
    ...(sideTasks && { sideTasks }),
    ...(sealing && { sealing }),
    ...(web && { web }),
    ...(stores && { stores }),
    ...(registry && { registry }),
    ...(versionsOnOffer && { versionsOnOffer }),
    ...(metrics && { metrics }),
    ...(audit && { audit }),
    ...(podCapacity !== undefined && { podCapacity }),
  })
}

function mayFail(step = ''): boolean {
  return step === 'script' || step === 'upgrade-control-plane' || step.startsWith('job-')
}

async function install(
  api: KubeApi,
  { cluster }: SimulatedCluster,
  { operators, operatorTolerations }: StoryOptions,
  signal: AbortSignal,
): Promise<void> {
  const [first = ''] = cluster.machines.keys()
  const home = operators === undefined ? { 'kubernetes.io/hostname': first } : undefined
  await createOperatorPods(api, operators ?? 1, signal, home, operatorTolerations)
}

/** Until an operator leads and every agent that can has reported. */
async function comeUp(cluster: StoryCluster, { withoutAgent = [] }: StoryOptions): Promise<void> {
  const { machines } = cluster.sim
  await cluster.until('the cluster is up', () =>
    [...machines.keys()].every((name) => {
      const state = cluster.state(name)
      return state !== undefined && (withoutAgent.includes(name) || state.status?.agent !== undefined)
    }),
  )
  await cluster.pass(5_000)
}

function judge({ cluster, rules }: SimulatedCluster): void {
  const updates = cluster.server.peekAll(directUpdates)
  if (updates.every(({ status }) => status?.phase === 'Succeeded')) rules.atRest(cluster.clock.monotonicMs())
  expect(rules.violations, 'broken rules').toEqual([])
  expect(cluster.failures, 'processes that ended by an error').toEqual([])
}

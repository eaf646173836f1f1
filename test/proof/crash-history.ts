// One history of a small cluster: a control plane and two workers are updated, script and Kubernetes, and the operator or an
// agent is killed at the given points. It must come to the same right end as without them, with no rule broken on the way.

import { createHash } from 'node:crypto'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { type Expectation, type Finding, judgeEnd } from '../../src/main/simulation/fault-run-end.ts'
import { targetOf } from '../../src/main/simulation/fault-wishes.ts'
import { type SimulatedCluster, simulatedCluster } from '../../src/main/simulation/simulated-cluster.ts'
import type { Job } from '../../src/ports/host.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import type { SimCluster } from '../../src/sim/sim-cluster.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { createOperatorPods, createScript, createWorkload, ensureNamespace } from '../../src/sim/workloads.ts'
import { type CrashPlan, type CrashPoint, CrashPoints } from './crash-points.ts'

export interface History {
  /** Where somebody could die. */
  readonly points: readonly CrashPoint[]
  /** Where somebody did. */
  readonly struck: readonly CrashPoint[]
  /** Moments after the last crash that were the same point as another. */
  readonly folded: number
  readonly findings: readonly Finding[]
  /** Virtual time from the creation of the update to its end. */
  readonly tookMs: number
}

/** Those who follow a history without a part in it. */
export interface Onlooker {
  readonly log?: Log
  readonly watch?: (cluster: SimCluster) => void
}

const from = 'v1.35.4'
const machines: readonly NodeSpec[] = [
  { name: 'cp1', role: 'control-plane', version: from },
  { name: 'w1', role: 'worker', version: from },
  { name: 'w2', role: 'worker', version: from },
]
const script = '#!/bin/sh\ntrue\n'
const expectation: Expectation = {
  work: 'both',
  cordoned: undefined,
  failing: undefined,
  meddling: 'nothing',
  meddledNode: '',
  extras: { marked: undefined, skipped: undefined, profile: undefined, path: undefined },
}
const comesUpMs = 8_000
const limitMs = 3_600_000
/** After the end, long enough for whoever would still write something. */
const quietMs = 6_000

export async function tellHistory(plan: CrashPlan, onlooker: Onlooker = {}): Promise<History> {
  let faults: CrashPoints | undefined
  const simulated = simulatedCluster({
    seed: 1,
    nodes: machines,
    latencyMs: [5, 20],
    // Two waits outlast a change of leader: so a new one also meets an agent at work and a drain that goes on.
    durationOf,
    podStartMs: [100, 300],
    podStopMs: [17_000, 17_500],
    leaseEveryMs: 30_000,
    log: onlooker.log ?? silentLog,
    version: '0.0.0',
    slack: { staleMs: 2_000, requestMs: 1_000 },
    faults: (cluster) => {
      faults = new CrashPoints(cluster, plan)
      return faults
    },
  })
  const { cluster, rules } = simulated
  onlooker.watch?.(cluster)
  const { signal } = new AbortController()
  const person = cluster.client('person')
  await bringUp(cluster, person, signal)
  const startedMs = cluster.clock.monotonicMs()
  faults?.arm()
  await createUpdate(person, signal)
  const isOver = () => phaseOf(cluster) === 'Succeeded'
  await cluster.run({ limitMs, until: isOver })
  await cluster.run({ limitMs: 60_000, until: () => rules.isAtRest })
  const tookMs = cluster.clock.monotonicMs() - startedMs
  faults?.disarm()
  await cluster.run({ limitMs: quietMs })
  const run = { ...simulated, scenario: expectation, web: { unbalanced: () => [] } }
  const ended = [...(await judgeEnd(run, isOver(), 'rest')), ...judgeScripts(simulated)]
  const broken = rules.violations.map(({ rule, message }) => ({ rule: String(rule), message }))
  const { points = [], struck = [], folded = 0 } = faults ?? {}
  return { points, struck, folded, findings: [...broken, ...ended], tookMs }
}

function durationOf({ env }: Job, node: string): number {
  return node === 'w1' && env.SLIPWAY_STEP === 'script' ? 20_000 : 400
}

async function bringUp(cluster: SimCluster, person: KubeApi, signal: AbortSignal): Promise<void> {
  cluster.start()
  await createOperatorPods(person, 1, signal)
  await ensureNamespace(person, 'shop', signal)
  await createWorkload(person, { namespace: 'shop', name: 'web', replicas: 2, maxUnavailable: 1 }, signal)
  await createScript(person, 'work', script, signal)
  await cluster.run({ limitMs: comesUpMs })
}

async function createUpdate(person: KubeApi, signal: AbortSignal): Promise<void> {
  const { apiVersion, kind } = directUpdates
  const sha256 = createHash('sha256').update(script).digest('hex')
  const spec = { kubernetes: { version: targetOf(expectation.extras) }, script: { configMap: 'work', sha256 } }
  await person.create(directUpdates, { apiVersion, kind, metadata: { name: 'first' }, spec }, signal)
}

function phaseOf({ server }: SimCluster): string | undefined {
  return (server.peek(directUpdates, { name: 'first' }) as DirectUpdate | undefined)?.status?.phase
}

/** Whatever crashed, a script is run to its end once. */
function judgeScripts({ cluster }: SimulatedCluster): readonly Finding[] {
  return [...cluster.machines.values()].flatMap(({ name, host }) => {
    const runs = host.executions.filter(({ step, exitCode }) => step === 'script' && exitCode === 0).length
    return runs === 1 ? [] : [{ rule: '4', message: `${name} ran the script ${runs} times` }]
  })
}

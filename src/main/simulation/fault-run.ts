// One run with faults: a drawn cluster, a drawn update, drawn trouble. Whatever happens, it must come to its right end, and
// no rule may be broken on the way.

import { createHash } from 'node:crypto'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { nodes } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Log } from '../../ports/log.ts'
import { drawFaultPlan, type FaultKind } from '../../sim/fault-plan.ts'
import { type FaultHit, FaultInjector } from '../../sim/faults.ts'
import { createKured, kuredPlace } from '../../sim/kured.ts'
import { SeededRandom } from '../../sim/seeded-random.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { createOperatorPods, createScript, createWorkload, ensureNamespace } from '../../sim/workloads.ts'
import { judgeEnd } from './fault-run-end.ts'
import { drawScenario, type FaultScenario } from './fault-scenario.ts'
import { type SimulatedCluster, simulatedCluster } from './simulated-cluster.ts'

export interface FaultRunResult {
  readonly seed: number
  readonly violations: readonly { readonly rule: string; readonly message: string }[]
  readonly hits: readonly FaultHit[]
  readonly writes: number
}

const target = 'v1.36.3'
const script = '#!/bin/sh\ntrue\n'
const startMs = 12_000
/** A deleted update may have been missed by a watch that is silently dead: noticing that takes its time. */
const restMs = 30 * 60_000
const quietMs = 8_000
/** About as long as a run without trouble takes. */
const quietAfterMs = 6 * 60_000
const limitMs = 6 * 3_600_000

export async function faultRun(
  seed: number,
  kinds: readonly FaultKind[],
  version: string,
  signal: AbortSignal,
  watch: (cluster: SimCluster) => void = () => undefined,
  log: Log = silentLog,
): Promise<FaultRunResult> {
  const random = new SeededRandom(seed)
  const scenario = drawScenario(random.fork('scenario'))
  let injector: FaultInjector | undefined
  const repairs = { done: false }
  const simulated = simulatedCluster({
    seed,
    nodes: scenario.nodes,
    latencyMs: [5, 50],
    actorLatencyMs: [0, 0],
    workMs: [2_000, 30_000],
    podStartMs: [500, 2_000],
    podStopMs: [500, 4_000],
    // The node controller waits for 40 s.
    leaseEveryMs: 30_000,
    log,
    version,
    // A watch may be dead for as long as it takes to notice, and the API away on top.
    slack: { staleMs: 300_000, requestMs: 60_000 },
    exitCodeOf: (job, node) =>
      node === scenario.failing && !repairs.done && job.env.SLIPWAY_STEP === 'script' ? 1 : 0,
    faults: (cluster) => {
      injector = new FaultInjector(
        cluster,
        drawFaultPlan(random.fork('plan'), {
          nodes: scenario.nodes,
          kinds,
          quietBeforeMs: scenario.troubledStart ? 0 : startMs,
          quietAfterMs,
        }),
      )
      return injector
    },
  })
  watch(simulated.cluster)
  const run = new Run(simulated, scenario, repairs, signal)
  await run.bringUp()
  await run.untilOver()
  const found = await run.judge()
  const broken = simulated.rules.violations.map(({ rule, message }) => ({ rule: String(rule), message }))
  return { seed, violations: [...broken, ...found], hits: injector?.hits ?? [], writes: simulated.rules.writes }
}

class Run {
  readonly #simulated: SimulatedCluster
  readonly #scenario: FaultScenario
  readonly #signal: AbortSignal
  readonly #person: KubeApi
  readonly #repairs: { done: boolean }
  #meddled = false

  constructor(simulated: SimulatedCluster, scenario: FaultScenario, repairs: { done: boolean }, signal: AbortSignal) {
    this.#simulated = simulated
    this.#repairs = repairs
    this.#scenario = scenario
    this.#signal = signal
    this.#person = simulated.cluster.client('person')
  }

  async bringUp(): Promise<void> {
    const { cluster } = this.#simulated
    const { budget, perZone, kured, cordoned, operators } = this.#scenario
    cluster.start()
    const budgets = [
      ...(budget === undefined ? [] : [{ maxUnavailable: budget }]),
      ...(perZone === undefined ? [] : [{ per: 'topology.kubernetes.io/zone', maxUnavailable: perZone }]),
    ]
    if (kured) await createKured(this.#person, this.#signal)
    const locks = kured ? [{ type: 'Kured', daemonSet: kuredPlace }] : []
    if (budgets.length + locks.length > 0) await this.#createPolicy({ budgets, locks })
    await createOperatorPods(this.#person, operators, this.#signal)
    await ensureNamespace(this.#person, 'shop', this.#signal)
    await createWorkload(this.#person, { namespace: 'shop', name: 'web', replicas: 8, maxUnavailable: 2 }, this.#signal)
    await createScript(this.#person, 'work', script, this.#signal)
    await cluster.run({ limitMs: startMs })
    if (cordoned !== undefined) await this.#patchNode(cordoned, { spec: { unschedulable: true } })
    await this.#createUpdate('first')
  }

  /** Until the update has come to the end it should come to; meddling when its moment has come. */
  async untilOver(): Promise<void> {
    const { cluster } = this.#simulated
    const until = () => {
      if (!this.#meddled && this.#done() >= this.#scenario.meddlingAfter) return true
      return this.#isOver()
    }
    const endMs = cluster.clock.monotonicMs() + limitMs
    while (!this.#signal.aborted && cluster.clock.monotonicMs() < endMs && !(this.#meddled && this.#isOver())) {
      await cluster.run({ limitMs: endMs - cluster.clock.monotonicMs(), until })
      if (!this.#meddled) await this.#meddle()
    }
  }

  async judge(): Promise<readonly { readonly rule: string; readonly message: string }[]> {
    const { cluster, rules } = this.#simulated
    if (this.#scenario.failing === undefined) await cluster.run({ limitMs: restMs, until: () => rules.isAtRest })
    await cluster.run({ limitMs: quietMs })
    if (this.#scenario.failing !== undefined && this.#update('first')?.status?.phase === 'Failed') {
      const failed = judgeEnd(this.#simulated, this.#scenario, this.#isOver(), 'failed')
      if (failed.length > 0) return failed
      if (this.#scenario.retries) return this.#retry()
      await this.#person.delete(directUpdates, { name: 'first' }, {}, this.#signal)
      await cluster.run({ limitMs, until: () => this.#update('first') === undefined })
    }
    return judgeEnd(this.#simulated, this.#scenario, this.#isOver(), 'rest')
  }

  /** What made the script fail is repaired: tried again, the update comes to a good end. */
  async #retry(): Promise<readonly { readonly rule: string; readonly message: string }[]> {
    const { cluster, rules } = this.#simulated
    const isDone = () => this.#update('first')?.status?.phase === 'Succeeded'
    this.#repairs.done = true
    await this.#patchUpdate({ spec: { retry: { token: '1' } } })
    await cluster.run({ limitMs, until: isDone })
    await cluster.run({ limitMs: restMs, until: () => rules.isAtRest })
    return judgeEnd(this.#simulated, this.#scenario, isDone(), 'rest')
  }

  #isOver(): boolean {
    const names = this.#scenario.meddling === 'second-update' && this.#meddled ? ['first', 'second'] : ['first']
    return names.every((name) => {
      const update = this.#update(name)
      if (!update) return true
      const phase = update.status?.phase
      const isCancelled = phase === 'Cancelled' && this.#scenario.meddling.startsWith('cancel')
      return phase === 'Succeeded' || isCancelled || (phase === 'Failed' && this.#scenario.failing !== undefined)
    })
  }

  #update(name: string): DirectUpdate | undefined {
    return this.#simulated.cluster.server.peek(directUpdates, { name }) as DirectUpdate | undefined
  }

  #done(): number {
    return this.#update('first')?.status?.summary?.done ?? 0
  }

  async #meddle(): Promise<void> {
    this.#meddled = true
    const { cluster } = this.#simulated
    switch (this.#scenario.meddling) {
      case 'nothing':
        return
      case 'delete-update':
        if (this.#update('first')) await this.#person.delete(directUpdates, { name: 'first' }, {}, this.#signal)
        return
      case 'delete-policy':
        if (cluster.server.peek(maintenancePolicies, { name: policyName })) {
          await this.#person.delete(maintenancePolicies, { name: policyName }, {}, this.#signal)
        }
        return
      case 'edit-strategy':
        await this.#patchUpdate({ spec: { strategy: { maxUnavailable: 2 } } })
        return
      case 'second-update':
        await this.#createUpdate('second')
        return
      case 'pause-update':
        await this.#patchUpdate({ spec: { desiredState: 'Paused' } })
        await cluster.run({ limitMs: 120_000 })
        await this.#patchUpdate({ spec: { desiredState: 'Running' } })
        return
      case 'cancel':
      case 'cancel-put-back': {
        const onCancel = this.#scenario.meddling === 'cancel' ? 'Finish' : 'PutBack'
        await this.#patchUpdate({ spec: { desiredState: 'Cancelled', onCancel } })
        return
      }
      case 'pause':
        await this.#setPaused(true)
        await cluster.run({ limitMs: 120_000 })
        await this.#setPaused(false)
    }
  }

  async #createUpdate(name: string): Promise<void> {
    const { work, maxUnavailable, waves } = this.#scenario
    const sha256 = createHash('sha256').update(script).digest('hex')
    const { apiVersion, kind } = directUpdates
    const spec: DirectUpdateSpec = {
      // A clock set wrong by a fault stays so, and the update has to come through it.
      preflight: { skip: ['ClockSkew'] },
      ...(work !== 'script' && { kubernetes: { version: target } }),
      ...(work !== 'kubernetes' && { script: { configMap: 'work', sha256 } }),
      strategy: { maxUnavailable, ...(waves && { waves }) },
    }
    await this.#person.create(directUpdates, { apiVersion, kind, metadata: { name }, spec }, this.#signal)
  }

  async #createPolicy(spec: object): Promise<void> {
    const { apiVersion, kind } = maintenancePolicies
    await this.#person.create(
      maintenancePolicies,
      { apiVersion, kind, metadata: { name: policyName }, spec },
      this.#signal,
    )
  }

  async #setPaused(paused: boolean): Promise<void> {
    if (!this.#simulated.cluster.server.peek(maintenancePolicies, { name: policyName })) return
    const patch = { type: 'merge', body: { spec: { paused } } } as const
    await this.#person.patch(maintenancePolicies, { name: policyName }, patch, this.#signal)
  }

  async #patchUpdate(body: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#update('first'))
      await this.#person.patch(directUpdates, { name: 'first' }, { type: 'merge', body }, this.#signal)
  }

  async #patchNode(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#person.patch(nodes, { name }, { type: 'merge', body }, this.#signal)
  }
}

// One run with faults: a drawn cluster, a drawn update, drawn trouble. Whatever happens, it must come to its right end, and
// no rule may be broken on the way.

import type { Log } from '../../ports/log.ts'
import { type FaultHit, FaultInjector } from '../../sim/faults.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { busyWindowMs } from '../../sim/virtual-clock.ts'
import { faultRegistry } from './fault-beside.ts'
import { equipmentFor, storesFor } from './fault-equipment.ts'
import { type FaultHistory, startMs } from './fault-history.ts'
import { FaultPeople } from './fault-people.ts'
import { type Finding, judgeEnd } from './fault-run-end.ts'
import type { FaultScenario } from './fault-scenario.ts'
import { FaultWeb } from './fault-web.ts'
import { judgeGates } from './gate-rule.ts'
import { type SimulatedCluster, simulatedCluster } from './simulated-cluster.ts'

export interface FaultRunResult {
  readonly seed: number
  readonly violations: readonly { readonly rule: string; readonly message: string }[]
  readonly hits: readonly FaultHit[]
  readonly writes: number
}

/** A deleted update may have been missed by a watch that is silently dead: noticing that takes its time. */
const restMs = 30 * 60_000
const quietMs = 8_000
const limitMs = 6 * 3_600_000
/** Timers of one node within the clock's window: a hundred is much, and who spins sets a thousand a second. */
const timersOfNode = 300

export async function faultRun(
  { seed, scenario, plan }: FaultHistory,
  version: string,
  signal: AbortSignal,
  watch: (cluster: SimCluster) => void = () => undefined,
  log: Log = silentLog,
): Promise<FaultRunResult> {
  let injector: FaultInjector | undefined
  const repairs = { done: false }
  const web: FaultWeb = new FaultWeb(scenario.extras, () => simulated.cluster.clock)
  const simulated: SimulatedCluster = simulatedCluster({
    seed,
    web,
    ...equipmentFor(scenario.extras),
    ...(scenario.extras.beside && {
      registry: faultRegistry(scenario.extras.beside, () => simulated.cluster.clock.monotonicMs()),
    }),
    stores: storesFor(scenario.extras, () => simulated.cluster.clock.monotonicMs()),
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
      injector = new FaultInjector(cluster, plan)
      return injector
    },
  })
  watch(simulated.cluster)
  const gates = judgeGates(simulated, scenario, web)
  const run = new Run(simulated, scenario, web, repairs, signal)
  await run.bringUp()
  await run.untilOver()
  const found = await run.judge()
  const broken = simulated.rules.violations.map(({ rule, message }) => ({ rule: String(rule), message }))
  return {
    seed,
    violations: [...broken, ...gates, ...found],
    hits: injector?.hits ?? [],
    writes: simulated.rules.writes,
  }
}

class Run {
  readonly #simulated: SimulatedCluster
  readonly #scenario: FaultScenario
  readonly #web: FaultWeb
  readonly #signal: AbortSignal
  readonly #people: FaultPeople
  readonly #repairs: { done: boolean }
  #meddled = false

  constructor(
    simulated: SimulatedCluster,
    scenario: FaultScenario,
    web: FaultWeb,
    repairs: { done: boolean },
    signal: AbortSignal,
  ) {
    this.#simulated = simulated
    this.#repairs = repairs
    this.#scenario = scenario
    this.#web = web
    this.#signal = signal
    const repair = () => {
      repairs.done = true
    }
    this.#people = new FaultPeople(simulated.cluster, scenario, repair, signal)
  }

  async bringUp(): Promise<void> {
    this.#simulated.cluster.start()
    await this.#people.install()
    await this.#simulated.cluster.run({ limitMs: startMs })
    await this.#people.ask()
  }

  /** Until the update has come to the end it should come to; meddling when its moment has come. */
  async untilOver(): Promise<void> {
    const { cluster } = this.#simulated
    const until = () => this.#isSpinning() || (!this.#meddled && this.#isMeddlingTime()) || this.#isOver()
    const endMs = cluster.clock.monotonicMs() + limitMs
    const isEnded = () => this.#isSpinning() || (this.#meddled && this.#isOver())
    while (!this.#signal.aborted && cluster.clock.monotonicMs() < endMs && !isEnded()) {
      await cluster.run({ limitMs: endMs - cluster.clock.monotonicMs(), until })
      if (this.#meddled) continue
      this.#meddled = true
      await this.#people.meddle()
    }
  }

  async judge(): Promise<readonly Finding[]> {
    const { cluster } = this.#simulated
    if (this.#isSpinning()) return [spun(cluster)]
    const { failing, extras } = this.#scenario
    if (failing === undefined || extras.attended) await this.#rest()
    else await cluster.run({ limitMs: quietMs })
    if (failing !== undefined && !extras.attended && this.#people.update('first')?.status?.phase === 'Failed') {
      const failed = await this.#judgeEnd('failed', this.#isOver())
      if (failed.length > 0) return failed
      if (this.#scenario.retries) return this.#retry()
      await this.#people.deleteUpdate()
      await cluster.run({ limitMs, until: () => this.#people.update('first') === undefined })
      // It goes as soon as its nodes are back; what is given back to other tools then comes last.
      await this.#rest()
    }
    const isOver = this.#isOver()
    return [...(await this.#judgeEnd('rest', isOver)), ...(isOver ? this.#judgeBeside() : [])]
  }

  /** What made the script fail is repaired: tried again, the update comes to a good end. */
  async #retry(): Promise<readonly Finding[]> {
    const { cluster } = this.#simulated
    const isDone = () => this.#people.update('first')?.status?.phase === 'Succeeded'
    this.#repairs.done = true
    await this.#people.patchUpdate({ retry: { token: '1' } })
    await cluster.run({ limitMs, until: isDone })
    await this.#rest()
    return this.#judgeEnd('rest', isDone())
  }

  /** Nodes come to rest first; what hooks of the update did is cleaned up after it has told of its end, by whoever leads then. */
  async #rest(): Promise<void> {
    const { cluster, rules } = this.#simulated
    await cluster.run({ limitMs: restMs, until: () => rules.isAtRest && this.#web.unbalanced().length === 0 })
    await cluster.run({ limitMs: quietMs })
  }

  #judgeEnd(expected: 'failed' | 'rest', isOver: boolean): Promise<readonly Finding[]> {
    return judgeEnd({ ...this.#simulated, web: this.#web, scenario: this.#scenario }, isOver, expected)
  }

  #judgeBeside(): readonly Finding[] {
    return this.#people.beside.judge().map((message) => ({ rule: 'beside', message }))
  }

  #isSpinning(): boolean {
    const { clock, machines } = this.#simulated.cluster
    return clock.busiest > timersOfNode * machines.size
  }

  #isOver(): boolean {
    return this.#isUpdateOver('first') && this.#isUpdateOver('second') && this.#people.areDone
  }

  #isUpdateOver(name: string): boolean {
    const update = this.#people.update(name)
    if (!update) return true
    const { meddling, failing, extras } = this.#scenario
    const phase = update.status?.phase
    const isCancelled = meddling.startsWith('cancel') && update.spec.desiredState === 'Cancelled'
    // One that had failed before it was cancelled, in its work or at a gate, has nothing to end.
    if (isCancelled && (phase === 'Failed' || phase === 'Cancelled')) return true
    return phase === 'Succeeded' || (phase === 'Failed' && failing !== undefined && !extras.attended)
  }

  /** So many nodes are done, and one is under work. */
  #isMeddlingTime(): boolean {
    const done = this.#people.update('first')?.status?.summary?.done ?? 0
    return done >= this.#scenario.meddlingAfter && this.#simulated.rules.truth.grants.length > 0
  }
}

function spun({ clock }: SimCluster): Finding {
  const message = `${clock.busiest} timers within ${busyWindowMs / 1000} s, at ${clock.now().toISOString()}: somebody asks for itself again and again`
  return { rule: 'spin', message }
}

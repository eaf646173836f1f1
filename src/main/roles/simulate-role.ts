import type { RecordedRun } from '../../api/simulation-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { RolloutFigures, ShrunkRun, SimulateOptions, SimulateResult, Violation } from '../../cli/dependencies.ts'
import { combinationsIn } from '../../sim/fault-combination.ts'
import { type FaultKind, faultKinds } from '../../sim/fault-plan.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { drawHistory, type FaultHistory } from '../simulation/fault-history.ts'
import { leaveOut, partsOf } from '../simulation/fault-parts.ts'
import { type FaultRunResult, faultRun } from '../simulation/fault-run.ts'
import { Rollout } from '../simulation/rollout.ts'
import { RunDigest } from '../simulation/run-digest.ts'
import { RunWaits } from '../simulation/run-waits.ts'
import { shrink } from '../simulation/shrink.ts'

const defaultNodes = 100
/** With more runs than this only their sum is told. */
const listedRuns = 10

export async function simulateRole(
  version: string,
  options: SimulateOptions,
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const kinds = kindsOf(options.faults)
  const onlookers = new Onlookers(options)
  const result = await (kinds.length > 0
    ? faultRuns(version, options, kinds, onlookers, onRun, signal)
    : rollouts(version, options, onlookers, onRun, signal))
  return { ...result, ...onlookers.told() }
}

/** Those who follow runs without a part in them. */
class Onlookers {
  readonly #waits: RunWaits | undefined
  readonly #recorded: RecordedRun[] | undefined
  #digest: RunDigest | undefined

  constructor({ explain, record }: SimulateOptions) {
    this.#waits = explain ? new RunWaits() : undefined
    this.#recorded = record ? [] : undefined
  }

  readonly watch = (cluster: SimCluster): void => {
    this.#waits?.watch(cluster)
    if (!this.#recorded) return
    this.#digest = new RunDigest()
    this.#digest.watch(cluster)
  }

  /** What was recorded so far is not wanted. */
  forget(): void {
    this.#recorded?.splice(0)
  }

  ended(seed: number): void {
    this.#waits?.ended()
    if (this.#digest) this.#recorded?.push(this.#digest.recorded(seed))
  }

  told(): Pick<SimulateResult, 'waits' | 'recorded'> {
    return {
      ...(this.#waits && { waits: this.#waits.explained() }),
      ...(this.#recorded && { recorded: this.#recorded }),
    }
  }
}

async function faultRuns(
  version: string,
  { seeds, nodes, without = [], shrink: isShrinking }: SimulateOptions,
  kinds: readonly FaultKind[],
  onlookers: Onlookers,
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const violations: Violation[] = []
  const faults: Record<string, number> = {}
  const together: Record<string, number> = {}
  let runs = 0
  for (let seed = seeds.first; seed <= seeds.last && !signal.aborted; seed++) {
    const history = without.reduce(leaveOut, drawHistory(seed, { kinds, nodes }))
    const result = await faultRun(history, version, signal, onlookers.watch)
    // A run that was cut short proves nothing, neither good nor bad.
    if (signal.aborted) break
    onlookers.ended(seed)
    for (const { rule, message } of result.violations) violations.push({ seed, rule, message })
    for (const { kind, phase } of result.hits) faults[`${kind} ${phase}`] = (faults[`${kind} ${phase}`] ?? 0) + 1
    for (const name of combinationsIn(result.hits.map(({ kind }) => kind))) together[name] = (together[name] ?? 0) + 1
    onRun(++runs)
    if (!isShrinking || result.violations.length === 0) continue
    const shrunk = await shrunkRun(history, result, version, onlookers, signal)
    return { runs, violations, faults, together, shrunk: { ...shrunk, without: [...without, ...shrunk.without] } }
  }
  return { runs, violations, faults, together }
}

async function shrunkRun(
  history: FaultHistory,
  result: FaultRunResult,
  version: string,
  onlookers: Onlookers,
  signal: AbortSignal,
): Promise<ShrunkRun> {
  const rule = result.violations[0]?.rule ?? ''
  const run = (candidate: FaultHistory) => faultRun(candidate, version, signal)
  const shrunk = await shrink(history, result, rule, run, signal)
  // Once more for those who look on: what is recorded is the shortest history.
  onlookers.forget()
  const { hits, violations } = await faultRun(shrunk.history, version, signal, onlookers.watch)
  onlookers.ended(history.seed)
  return {
    seed: history.seed,
    rule,
    message: violations.find((violation) => violation.rule === rule)?.message ?? '',
    without: shrunk.without,
    faults: hits.map(({ kind, atMs, where }) => ({ kind, atSeconds: Math.round(atMs / 1000), where: where.trim() })),
    nodes: shrunk.history.scenario.nodes.length,
    left: partsOf(shrunk.history, []),
  }
}

async function rollouts(
  version: string,
  options: SimulateOptions,
  onlookers: Onlookers,
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const { first, last } = options.seeds
  const violations: Violation[] = []
  const figures: RolloutFigures[] = []
  for (let seed = first; seed <= last && !signal.aborted; seed++) {
    const one = await rolloutRun(version, options, onlookers, seed, signal)
    if (signal.aborted) break
    onlookers.ended(seed)
    violations.push(...one.violations)
    if (one.phase !== 'Succeeded') violations.push({ seed, rule: 'liveness', message: `the update ended ${one.phase}` })
    figures.push(one)
    onRun(figures.length)
  }
  return { runs: figures.length, violations, ...(figures.length <= listedRuns && { rollouts: figures }) }
}

async function rolloutRun(
  version: string,
  options: SimulateOptions,
  onlookers: Onlookers,
  seed: number,
  signal: AbortSignal,
): Promise<RolloutFigures> {
  const { podsPerNode, maxUnavailable, nodes = defaultNodes } = options
  const rollout = new Rollout({ nodes, podsPerNode, seed, maxUnavailable, log: silentLog, version }, signal)
  onlookers.watch(rollout.simulated.cluster)
  await rollout.bringUp()
  await rollout.start()
  await rollout.advance()
  return rollout.figures()
}

function kindsOf(faults: SimulateOptions['faults']): readonly FaultKind[] {
  if (faults === 'none') return []
  if (faults === 'all') return faultKinds
  return faults.map((name) => {
    const kind = faultKinds.find((known) => known === name)
    if (kind) return kind
    throw new SlipwayError('Usage', `there is no fault "${name}"`, {
      nextStep: `the kinds are ${faultKinds.join(', ')}`,
    })
  })
}

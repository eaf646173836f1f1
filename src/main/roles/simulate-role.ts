import type { RecordedRun } from '../../api/simulation-record.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { RolloutFigures, SimulateOptions, SimulateResult, Violation } from '../../cli/dependencies.ts'
import { type FaultKind, faultKinds } from '../../sim/fault-plan.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { SimCluster } from '../../sim/sim-cluster.ts'
import { faultRun } from '../simulation/fault-run.ts'
import { Rollout } from '../simulation/rollout.ts'
import { RunDigest } from '../simulation/run-digest.ts'
import { RunWaits } from '../simulation/run-waits.ts'

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
  { seeds }: SimulateOptions,
  kinds: readonly FaultKind[],
  onlookers: Onlookers,
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const violations: Violation[] = []
  const faults: Record<string, number> = {}
  let runs = 0
  for (let seed = seeds.first; seed <= seeds.last && !signal.aborted; seed++) {
    const result = await faultRun(seed, kinds, version, signal, onlookers.watch)
    // A run that was cut short proves nothing, neither good nor bad.
    if (signal.aborted) break
    onlookers.ended(seed)
    for (const { rule, message } of result.violations) violations.push({ seed, rule, message })
    for (const { kind, phase } of result.hits) faults[`${kind} ${phase}`] = (faults[`${kind} ${phase}`] ?? 0) + 1
    onRun(++runs)
  }
  return { runs, violations, faults }
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

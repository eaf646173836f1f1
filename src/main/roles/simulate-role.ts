import { SlipwayError } from '../../api/slipway-error.ts'
import type { RolloutFigures, SimulateOptions, SimulateResult, Violation } from '../../cli/dependencies.ts'
import { type FaultKind, faultKinds } from '../../sim/fault-plan.ts'
import { silentLog } from '../../sim/silent-log.ts'
import { faultRun } from '../simulation/fault-run.ts'
import { Rollout } from '../simulation/rollout.ts'

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
  return kinds.length > 0
    ? faultRuns(version, options, kinds, onRun, signal)
    : rollouts(version, options, onRun, signal)
}

async function faultRuns(
  version: string,
  { seeds }: SimulateOptions,
  kinds: readonly FaultKind[],
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const violations: Violation[] = []
  const faults: Record<string, number> = {}
  let runs = 0
  for (let seed = seeds.first; seed <= seeds.last && !signal.aborted; seed++) {
    const result = await faultRun(seed, kinds, version, signal)
    // A run that was cut short proves nothing, neither good nor bad.
    if (signal.aborted) break
    for (const { rule, message } of result.violations) violations.push({ seed, rule, message })
    for (const { kind, phase } of result.hits) faults[`${kind} ${phase}`] = (faults[`${kind} ${phase}`] ?? 0) + 1
    onRun(++runs)
  }
  return { runs, violations, faults }
}

async function rollouts(
  version: string,
  options: SimulateOptions,
  onRun: (runsDone: number) => void,
  signal: AbortSignal,
): Promise<SimulateResult> {
  const { first, last } = options.seeds
  const violations: Violation[] = []
  const figures: RolloutFigures[] = []
  for (let seed = first; seed <= last && !signal.aborted; seed++) {
    const one = await rolloutRun(version, options, seed, signal)
    if (signal.aborted) break
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
  seed: number,
  signal: AbortSignal,
): Promise<RolloutFigures> {
  const { podsPerNode, maxUnavailable, nodes = defaultNodes } = options
  const rollout = new Rollout({ nodes, podsPerNode, seed, maxUnavailable, log: silentLog, version }, signal)
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

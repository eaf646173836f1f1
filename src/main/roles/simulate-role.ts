import type { RolloutFigures, SimulateOptions, SimulateResult, Violation } from '../../cli/dependencies.ts'
import { silentLog } from '../../sim/silent-log.ts'
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
  const { first, last } = options.seeds
  const violations: Violation[] = []
  const rollouts: RolloutFigures[] = []
  let runs = 0
  for (let seed = first; seed <= last && !signal.aborted; seed++) {
    const figures = await rolloutRun(version, options, seed, signal)
    violations.push(...figures.violations)
    if (figures.phase !== 'Succeeded')
      violations.push({ seed, rule: 'liveness', message: `the update ended ${figures.phase}` })
    rollouts.push(figures)
    onRun(++runs)
  }
  return { runs, violations, ...(rollouts.length <= listedRuns && { rollouts }) }
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

// The history of a fault run as it is drawn from its seed: what it is about and what goes wrong in it. Every second seed goes
// through the kinds of trouble and their pairs in turn, the others draw freely. Every ninth is crowded.

import { faultCombinations } from '../../sim/fault-combination.ts'
import { drawFaultPlan, type FaultKind, type FaultPlan } from '../../sim/fault-plan.ts'
import { SeededRandom } from '../../sim/seeded-random.ts'
import { drawScenario, type FaultScenario } from './fault-scenario.ts'

/** What may be drawn. */
export interface FaultDraw {
  readonly kinds: readonly FaultKind[]
  /** Exactly so many; 6 to 12 where it is not given. */
  readonly nodes?: number | undefined
  /** Everything at once; every ninth seed where it is not given. */
  readonly crowded?: boolean
}

export interface FaultHistory {
  readonly seed: number
  readonly scenario: FaultScenario
  readonly plan: FaultPlan
}

/** Until then a cluster comes up. */
export const startMs = 12_000
/** About as long as a run without trouble takes. */
const quietAfterMs = 6 * 60_000

export function drawHistory(seed: number, { kinds, nodes, crowded = isCrowded(seed) }: FaultDraw): FaultHistory {
  const random = new SeededRandom(seed)
  const scenario = drawScenario(random.fork('scenario'), crowded, nodes)
  const plan = drawFaultPlan(random.fork('plan'), {
    nodes: scenario.nodes,
    kinds,
    certain: combinationOf(seed, kinds),
    quietBeforeMs: scenario.troubledStart ? 0 : startMs,
    quietAfterMs,
  })
  return { seed, scenario, plan }
}

/** So that none of the seeds that are remembered is one. */
function isCrowded(seed: number): boolean {
  return seed % 9 === 1
}

function combinationOf(seed: number, kinds: readonly FaultKind[]): readonly FaultKind[] | undefined {
  if (seed % 2 === 0) return undefined
  const combinations = faultCombinations(kinds)
  return combinations[((seed - 1) / 2) % combinations.length]
}

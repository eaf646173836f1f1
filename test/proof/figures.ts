// The comparisons of many clusters, summed up and held against what is demanded of them.

import type { Comparison } from './compare.ts'

/** Sums, and faults each with its cluster: empty when all is right. */
export interface Figures extends Omit<Comparison, 'possible'> {
  readonly clusters: number
}

const demands = { certainRatio: 0.8, possibleRatio: 0.3 }

type FieldOf<T> = { [Field in keyof Comparison]: Comparison[Field] extends T ? Field : never }[keyof Comparison]

/** By the name of the cluster. */
export function figuresOf(comparisons: ReadonlyMap<string, Comparison>): Figures {
  const all = [...comparisons]
  const sum = (field: FieldOf<number>) => all.reduce((total, [, one]) => total + one[field], 0)
  const faults = (field: FieldOf<readonly string[]>) =>
    all.flatMap(([name, one]) => one[field].map((fault) => `${name}: ${fault}`))
  return {
    clusters: all.length,
    nodes: sum('nodes'),
    alike: sum('alike'),
    blocks: sum('blocks'),
    calledCertain: sum('calledCertain'),
    certainCalls: sum('certainCalls'),
    possibleCalls: sum('possibleCalls'),
    possibleThatHappened: sum('possibleThatHappened'),
    waves: sum('waves'),
    controlPlanePlaces: sum('controlPlanePlaces'),
    placesCalledCertain: sum('placesCalledCertain'),
    unpredicted: faults('unpredicted'),
    certainThatDidNotHappen: faults('certainThatDidNotHappen'),
    otherWaves: faults('otherWaves'),
    otherOrder: faults('otherOrder'),
  }
}

export function sharesOf({ blocks, calledCertain, possibleCalls, possibleThatHappened }: Figures) {
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole)
  return {
    blocksCalledCertain: share(calledCertain, blocks),
    possibleThatHappened: share(possibleThatHappened, possibleCalls),
  }
}

export function faultsOf(figures: Figures): readonly string[] {
  const { unpredicted, certainThatDidNotHappen, otherWaves, otherOrder } = figures
  return [
    ...unpredicted.map((fault) => `not predicted, ${fault}`),
    ...certainThatDidNotHappen.map((fault) => `certain and did not happen, ${fault}`),
    ...otherWaves.map((fault) => `other waves, ${fault}`),
    ...otherOrder.map((fault) => `other order, ${fault}`),
  ]
}

/** Where a part was rehearsed more is left in doubt: then only what is said must be true. */
export function isRight(figures: Figures, rehearsedShare = 1): boolean {
  const shares = sharesOf(figures)
  if (faultsOf(figures).length > 0 || rehearsedShare < 1) return faultsOf(figures).length === 0
  return shares.blocksCalledCertain >= demands.certainRatio && shares.possibleThatHappened >= demands.possibleRatio
}

export function figuresText(figures: Figures): string {
  const shares = sharesOf(figures)
  const percent = (ratio: number) => `${(100 * ratio).toFixed(1)} %`
  const lines = [
    `nodes planned: ${figures.nodes}; not rehearsed: ${figures.alike}`,
    `blocks that happened: ${figures.blocks}; called certain before: ${percent(shares.blocksCalledCertain)} (at least ${percent(demands.certainRatio)})`,
    `blocks nobody predicted: ${figures.unpredicted.length} (must be 0)`,
    `blocks called certain: ${figures.certainCalls}; that did not happen: ${figures.certainThatDidNotHappen.length} (must be 0)`,
    `blocks called possible: ${figures.possibleCalls}; that happened: ${percent(shares.possibleThatHappened)} (at least ${percent(demands.possibleRatio)})`,
    `waves planned: ${figures.waves}; clusters with other waves than planned: ${figures.otherWaves.length} (must be 0)`,
    `places called certain: ${figures.placesCalledCertain}, ${figures.controlPlanePlaces} of them in the control plane; taken by another node: ${figures.otherOrder.length} (must be 0)`,
    ...faultsOf(figures).map((fault) => `  ${fault}`),
  ]
  return `${lines.join('\n')}\n`
}

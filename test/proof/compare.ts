// How a plan compares with what then happened.

import type { PlanReport, PlanRun } from '../../src/core/plan/plan-report.ts'

export interface Comparison {
  readonly nodes: number
  /** Nodes that were not rehearsed. */
  readonly alike: number
  /** Blocks of the executed run, by cause. */
  readonly blocks: number
  readonly calledCertain: number
  readonly certainCalls: number
  readonly possibleCalls: number
  readonly possibleThatHappened: number
  readonly waves: number
  readonly controlPlanePlaces: number
  readonly placesCalledCertain: number
  readonly unpredicted: readonly string[]
  readonly certainThatDidNotHappen: readonly string[]
  readonly otherWaves: readonly string[]
  readonly otherOrder: readonly string[]
  /** What could be in the way, for whoever looks into the figures. */
  readonly possible: readonly string[]
}

/** What was planned and what was executed. */
export interface Outcome {
  readonly report: PlanReport
  readonly run: PlanRun
}

export function compare({ report, run }: Outcome): Comparison {
  const happened = new Set(run.blockers.map(({ key }) => key))
  const calls = report.blockers.map(({ code, cause, certainty }) => ({ key: `${code} ${cause}`.trim(), certainty }))
  const keysOf = (wanted: string) => calls.filter(({ certainty }) => certainty === wanted).map(({ key }) => key)
  const certain = keysOf('certain')
  const possible = keysOf('possible')
  return {
    nodes: report.nodes,
    alike: report.alike,
    blocks: happened.size,
    calledCertain: certain.filter((key) => happened.has(key)).length,
    certainCalls: certain.length,
    possibleCalls: possible.length,
    possibleThatHappened: possible.filter((key) => happened.has(key)).length,
    unpredicted: [...happened].filter((key) => !calls.some((call) => call.key === key)),
    certainThatDidNotHappen: certain.filter((key) => !happened.has(key)),
    possible: possible.map((key) => `${key}${happened.has(key) ? ' (happened)' : ''}`),
    ...compareOrder({ report, run }),
  }
}

type Order = Pick<Comparison, 'waves' | 'controlPlanePlaces' | 'placesCalledCertain' | 'otherWaves' | 'otherOrder'>

function compareOrder({ report, run }: Outcome): Order {
  const numbers = [...new Set(run.taken.map(({ wave }) => wave))].toSorted((a, b) => a - b)
  const executed = numbers.map((wave) => run.taken.filter((node) => node.wave === wave).map(({ name }) => name))
  const planned = report.waves.map(({ nodes }) => nodes.map(({ name }) => name))
  const members = (lists: readonly (readonly string[])[]) =>
    lists.map((names) => names.toSorted().join(' ')).join(' | ')
  const waves = planned.length
  // One that was stopped leaves nodes out, which and how many being a matter of time; it takes none that was not planned.
  const isPart = executed.every((names, wave) => names.every((name) => planned[wave]?.includes(name)))
  if (run.phase === 'Succeeded' ? members(planned) !== members(executed) : !isPart) {
    const otherWaves = [`planned ${members(planned)}; executed ${members(executed)}`]
    return { waves, controlPlanePlaces: 0, placesCalledCertain: 0, otherWaves, otherOrder: [] }
  }
  const places = report.waves.flatMap(({ title, nodes }, wave) =>
    nodes.map(({ name, certain }, index) => {
      const isControlPlane = title === 'control plane'
      return { title, name, index, isControlPlane, judged: certain || isControlPlane, taken: executed[wave]?.[index] }
    }),
  )
  const judged = places.filter((place) => place.judged && place.taken !== undefined)
  return {
    waves,
    controlPlanePlaces: places.filter(({ isControlPlane }) => isControlPlane).length,
    placesCalledCertain: judged.length,
    otherWaves: [],
    otherOrder: judged
      .filter(({ name, taken }) => name !== taken)
      .map(({ title, name, index, taken }) => `${title} ${index + 1} is ${taken}, not ${name}`),
  }
}

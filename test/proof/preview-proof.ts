// The proof that previews are right: each cluster is planned from its snapshot, then the update is carried out on the cluster
// itself, whose chance, pods and scheduler know nothing of the rehearsals.

import { readClusterSnapshot } from '../../src/cli/cluster-snapshot.ts'
import type { PlanReport, PlanRun } from '../../src/core/plan/plan-report.ts'
import { carryOut } from '../../src/main/simulation/plan-run.ts'
import { rehearsable } from '../../src/main/simulation/rehearsable.ts'
import { rehearse } from '../../src/main/simulation/rehearse.ts'
import { inventedCluster } from './invented-cluster.ts'

export interface Figures {
  clusters: number
  /** Blocks of the executed runs, by cause. */
  blocks: number
  calledCertain: number
  calledPossible: number
  certainCalls: number
  possibleCalls: number
  possibleThatHappened: number
  placesCalledCertain: number
  readonly unpredicted: string[]
  readonly certainThatDidNotHappen: string[]
  readonly otherWaves: string[]
  readonly otherOrder: string[]
}

export function noFigures(): Figures {
  const counts = { clusters: 0, blocks: 0, calledCertain: 0, calledPossible: 0, certainCalls: 0, possibleCalls: 0 }
  const more = { possibleThatHappened: 0, placesCalledCertain: 0 }
  return { ...counts, ...more, unpredicted: [], certainThatDidNotHappen: [], otherWaves: [], otherOrder: [] }
}

export async function proveCluster(seed: number, figures: Figures, signal: AbortSignal): Promise<void> {
  const { cluster, person, update } = await inventedCluster(seed, signal)
  const snapshot = await readClusterSnapshot(person, cluster.clock, signal)
  const options = { snapshot, update, version: '0.0.0', seed: 1000 + seed, rehearsals: 5 }
  const report = await rehearse(options, signal)
  const run = await carryOut(cluster, snapshot, { ...update, spec: rehearsable(update.spec) }, signal)
  compare(`seed ${seed}`, report, run, figures)
}

function compare(where: string, report: PlanReport, run: PlanRun, figures: Figures): void {
  figures.clusters++
  const happened = new Set(run.blockers.map(({ key }) => key))
  const calls = new Map(report.blockers.map(({ code, cause, certainty }) => [`${code} ${cause}`.trim(), certainty]))
  for (const key of happened) {
    figures.blocks++
    const call = calls.get(key)
    if (call === 'certain') figures.calledCertain++
    else if (call === 'possible') figures.calledPossible++
    else figures.unpredicted.push(`${where}: ${key}`)
  }
  for (const [key, certainty] of calls) {
    if (certainty === 'certain') {
      figures.certainCalls++
      if (!happened.has(key)) figures.certainThatDidNotHappen.push(`${where}: ${key}`)
    } else {
      figures.possibleCalls++
      if (happened.has(key)) figures.possibleThatHappened++
    }
  }
  compareOrder(where, report, run, figures)
}

function compareOrder(where: string, report: PlanReport, run: PlanRun, figures: Figures): void {
  const waves = [...new Set(run.taken.map(({ wave }) => wave))].toSorted((a, b) => a - b)
  const executed = waves.map((wave) => run.taken.filter((node) => node.wave === wave).map(({ name }) => name))
  const planned = report.waves.map(({ nodes }) => nodes.map(({ name }) => name))
  const members = (lists: readonly (readonly string[])[]) =>
    lists.map((names) => names.toSorted().join(' ')).join(' | ')
  if (members(planned) !== members(executed)) {
    figures.otherWaves.push(`${where}: planned ${members(planned)}; executed ${members(executed)}`)
    return
  }
  report.waves.forEach(({ title, nodes }, wave) => {
    const names = executed[wave] ?? []
    nodes.forEach(({ name, certain }, index) => {
      if (!certain && title !== 'control plane') return
      figures.placesCalledCertain++
      if (names[index] !== name)
        figures.otherOrder.push(`${where}: ${title} ${index + 1} is ${names[index]}, not ${name}`)
    })
  })
}

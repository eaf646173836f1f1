// What several rehearsals of one update have in common and where they differ: the first is certain, the second possible.

import type { Blocker } from './blocker.ts'

/** What one rehearsal came to. */
export interface PlanRun {
  readonly phase: string
  readonly durationMs: number
  /** In the order in which they were taken. */
  readonly taken: readonly TakenNode[]
  readonly blockers: readonly Blocker[]
  /** What held a drain up for long, and then went away by itself. */
  readonly near: readonly Blocker[]
  /** Pods that found no node for a while, by workload. */
  readonly unplaced: ReadonlyMap<string, { readonly pods: number; readonly message: string }>
}

export interface TakenNode {
  readonly name: string
  readonly wave: number
  readonly atMs: number
  /** The operator had moved to another node by then: from there on it decides otherwise who comes last. */
  readonly afterMove: boolean
}

export interface PlannedWave {
  readonly title: string
  /** In the expected order. `certain`: its place is the same in every rehearsal, and nothing that is left to chance decides it. */
  readonly nodes: readonly { readonly name: string; readonly certain: boolean }[]
}

export interface PlannedBlocker {
  readonly certainty: 'certain' | 'possible'
  readonly code: string
  readonly cause: string
  readonly message: string
  /** The nodes on which it was met, over all rehearsals. */
  readonly nodes: readonly string[]
}

export interface UnplacedPods {
  readonly certainty: 'certain' | 'possible'
  readonly workload: string
  readonly pods: number
  readonly message: string
}

export interface PlanReport {
  readonly update: string
  readonly verdict: 'clear' | 'possiblyBlocked' | 'blocked'
  readonly rehearsals: number
  readonly nodes: number
  readonly durationSeconds: { readonly least: number; readonly expected: number; readonly most: number }
  readonly waves: readonly PlannedWave[]
  readonly blockers: readonly PlannedBlocker[]
  readonly unplaced: readonly UnplacedPods[]
  /** What the figures rest on, in sentences. */
  readonly assumptions: readonly string[]
}

export interface ReportView {
  readonly update: string
  readonly runs: readonly PlanRun[]
  /** The first so many of a wave stage at the same time: which of them is ready first is left to chance. */
  readonly racing: number
  readonly titleOf: (wave: number) => string
  readonly assumptions: readonly string[]
}

export function planReport({ update, runs, racing, titleOf, assumptions }: ReportView): PlanReport {
  const blockers = plannedBlockers(runs)
  const waves = plannedWaves(runs, racing, titleOf)
  const seconds = runs.map(({ durationMs }) => Math.round(durationMs / 1000)).toSorted((a, b) => a - b)
  const verdict = blockers.some(({ certainty }) => certainty === 'certain')
    ? 'blocked'
    : blockers.length > 0
      ? 'possiblyBlocked'
      : 'clear'
  return {
    update,
    verdict,
    rehearsals: runs.length,
    nodes: waves.reduce((sum, wave) => sum + wave.nodes.length, 0),
    durationSeconds: { least: seconds[0] ?? 0, expected: seconds[seconds.length >> 1] ?? 0, most: seconds.at(-1) ?? 0 },
    waves,
    blockers,
    unplaced: unplacedPods(runs),
    assumptions,
  }
}

function plannedBlockers(runs: readonly PlanRun[]): readonly PlannedBlocker[] {
  const byKey = new Map<
    string,
    { readonly first: Blocker; readonly nodes: Set<string>; runs: number; lasting: boolean }
  >()
  for (const run of runs) {
    const seen = new Set<string>()
    for (const blocker of run.blockers) {
      const known = byKey.get(blocker.key) ?? { first: blocker, nodes: new Set<string>(), runs: 0, lasting: false }
      byKey.set(blocker.key, known)
      if (blocker.node !== undefined) known.nodes.add(blocker.node)
      known.lasting ||= blocker.lasting
      if (!seen.has(blocker.key)) known.runs++
      seen.add(blocker.key)
    }
  }
  for (const blocker of runs.flatMap(({ near }) => near)) {
    const nodes = new Set(blocker.node === undefined ? [] : [blocker.node])
    if (!byKey.has(blocker.key)) byKey.set(blocker.key, { first: blocker, nodes, runs: 0, lasting: false })
  }
  return [...byKey.values()]
    .map(({ first, nodes, runs: met, lasting }) => ({
      certainty: lasting && met === runs.length ? ('certain' as const) : ('possible' as const),
      code: first.code,
      cause: first.key.slice(first.code.length).trim(),
      message: first.message,
      nodes: [...nodes].toSorted(byName),
    }))
    .toSorted((a, b) => (a.certainty === b.certainty ? byName(a.cause, b.cause) : a.certainty === 'certain' ? -1 : 1))
}

function plannedWaves(
  runs: readonly PlanRun[],
  racing: number,
  titleOf: (wave: number) => string,
): readonly PlannedWave[] {
  const [first, ...others] = runs
  const numbers = [...new Set(first?.taken.map(({ wave }) => wave))].toSorted((a, b) => a - b)
  return numbers.map((wave) => {
    const lists = [first, ...others].map((run) => run?.taken.filter((node) => node.wave === wave) ?? [])
    const nodes = (lists[0] ?? []).map(({ name }, index) => {
      const places = lists.map((list) => list[index])
      const agreed = places.every((place) => place?.name === name && !place.afterMove)
      return { name, certain: agreed && index >= racing }
    })
    return { title: titleOf(wave), nodes }
  })
}

function unplacedPods(runs: readonly PlanRun[]): readonly UnplacedPods[] {
  const workloads = new Set(runs.flatMap(({ unplaced }) => [...unplaced.keys()]))
  return [...workloads].toSorted(byName).map((workload) => {
    const met = runs.flatMap(({ unplaced }) => unplaced.get(workload) ?? [])
    return {
      certainty: met.length === runs.length ? ('certain' as const) : ('possible' as const),
      workload,
      pods: Math.max(...met.map(({ pods }) => pods)),
      message: met[0]?.message ?? '',
    }
  })
}

const collator = new Intl.Collator('en', { numeric: true })
function byName(a: string, b: string): number {
  return collator.compare(a, b)
}

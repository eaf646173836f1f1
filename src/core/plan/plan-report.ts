// What several rehearsals of one update have in common and where they differ: the first is certain, the second possible.

import type { Reason } from '../../api/reason.ts'
import type { VersionPath } from '../../api/version-path.ts'
import type { Blocker } from './blocker.ts'
import { type Schedule, type Seated, type SittingsView, seat } from './sittings.ts'

/** What one rehearsal came to. */
export interface PlanRun {
  readonly phase: string
  readonly startedMs: number
  readonly durationMs: number
  /** In the order in which they were taken. */
  readonly taken: readonly TakenNode[]
  readonly blockers: readonly Blocker[]
  /** What could have held a drain up, and did not by chance. */
  readonly near: readonly Blocker[]
  /** Pods that found no node for a while, by workload. */
  readonly unplaced: ReadonlyMap<string, { readonly pods: number; readonly message: string }>
  /** The steps that its orders had, by name. */
  readonly steps: readonly string[]
}

export interface TakenNode {
  readonly name: string
  readonly wave: number
  readonly atMs: number
  /** When its slot came back; absent: it never did. */
  readonly backMs?: number
  /** The operator had moved to another node by then: from there on it decides otherwise who comes last. */
  readonly afterMove: boolean
}

export interface PlannedWave {
  readonly title: string
  readonly total: number
  /** In the expected order. `certain`: its place is the same in every rehearsal, and nothing that is left to chance decides it. */
  readonly nodes: readonly { readonly name: string; readonly certain: boolean }[]
  /** From the start, in the rehearsal of middling length, windows aside; absent where it took none of them. */
  readonly startSeconds?: number
  readonly endSeconds?: number
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
  /** The versions of Kubernetes it goes through. */
  readonly path?: VersionPath
  readonly verdict: 'clear' | 'possiblyBlocked' | 'blocked'
  readonly rehearsals: number
  readonly nodes: number
  /** Those of them that were not rehearsed, for they are as others that were. */
  readonly alike: number
  readonly durationSeconds: { readonly least: number; readonly expected: number; readonly most: number }
  /** Seconds of each rehearsal, in ascending order. */
  readonly durations: readonly number[]
  /** Where windows or freezes bear on it: when it starts and ends, and how far it comes in each of them. */
  readonly schedule?: Schedule
  readonly waves: readonly PlannedWave[]
  readonly blockers: readonly PlannedBlocker[]
  readonly unplaced: readonly UnplacedPods[]
  /** What will happen besides, though nothing is in its way. */
  readonly warnings: readonly Reason[]
  /** What the figures rest on, in sentences. */
  readonly assumptions: readonly string[]
}

export interface ReportView {
  readonly update: string
  readonly path?: VersionPath
  readonly runs: readonly PlanRun[]
  readonly alike: number
  /** What a rehearsal need not have met to be possible. */
  readonly doubts: readonly Blocker[]
  /** The first so many of a wave stage at the same time: which of them is ready first is left to chance. */
  readonly racing: number
  /** Of the control plane and of each wave, all that are Ready, in turn. */
  readonly inTurn: readonly (readonly string[])[]
  readonly titleOf: (wave: number) => string
  readonly warnings?: readonly Reason[]
  readonly assumptions: readonly string[]
  /** Absent: it may start at any time. */
  readonly hours?: SittingsView
}

export function planReport(view: ReportView): PlanReport {
  const { update, path, alike, doubts, warnings = [], assumptions } = view
  const seated = seatedBy(view)
  const runs = seated && !seated.seated ? view.runs.map((run) => neverStarting(run, seated.reason)) : view.runs
  const blockers = plannedBlockers(runs, doubts)
  const waves = plannedWaves(view)
  const seconds = runs.map(({ durationMs }) => Math.round(durationMs / 1000)).toSorted((a, b) => a - b)
  const verdict = blockers.some(({ certainty }) => certainty === 'certain')
    ? 'blocked'
    : blockers.length > 0
      ? 'possiblyBlocked'
      : 'clear'
  return {
    update,
    ...(path && { path }),
    verdict,
    rehearsals: runs.length,
    nodes: waves.reduce((sum, wave) => sum + wave.nodes.length, 0),
    alike,
    durationSeconds: { least: seconds[0] ?? 0, expected: seconds[seconds.length >> 1] ?? 0, most: seconds.at(-1) ?? 0 },
    durations: seconds,
    ...(seated?.seated && { schedule: seated.schedule }),
    waves,
    blockers,
    unplaced: unplacedPods(runs),
    warnings,
    assumptions,
  }
}

function middling(runs: readonly PlanRun[]): PlanRun | undefined {
  return runs.toSorted((a, b) => a.durationMs - b.durationMs)[runs.length >> 1]
}

/** By the rehearsal that took neither longest nor shortest. */
function seatedBy({ runs, hours }: ReportView): Seated | undefined {
  const usual = middling(runs)
  if (!hours || !usual || usual.taken.length === 0) return undefined
  const problem = hours.calendars.find((calendar) => calendar.problem !== undefined)?.problem
  if (problem !== undefined) return { seated: false, reason: { code: 'CalendarInvalid', message: problem } }
  const { taken, startedMs, durationMs } = usual
  const nodes = taken.map(({ atMs, backMs }) => ({ atMs: atMs - startedMs, backMs: (backMs ?? atMs) - startedMs }))
  return seat(nodes, durationMs, hours)
}

function neverStarting(run: PlanRun, { code, message }: Reason): PlanRun {
  return { ...run, blockers: [...run.blockers, { key: code, code, message, lasting: true }] }
}

interface MetBlocker {
  readonly first: Blocker
  readonly nodes: Set<string>
  /** The nodes of each rehearsal that met it. */
  readonly met: ReadonlySet<string>[]
  lasting: boolean
  /** From the start of a rehearsal: when it could first be met, and by when every rehearsal that met it had. */
  earliestMs: number
  latestMs: number
}

/** An update comes to its end with it, or may. */
const ending = new Set<string>(['GateFailed', 'DrainAborted'])

function plannedBlockers(runs: readonly PlanRun[], doubts: readonly Blocker[]): readonly PlannedBlocker[] {
  const met = metBlockers(runs, doubts)
  const ends = met.filter(({ first }) => ending.has(first.code))
  const possibleEndMs = Math.min(
    ...ends.filter((one) => !isCertain(one, runs.length)).map(({ earliestMs }) => earliestMs),
  )
  return met
    .map((one) => ({
      certainty:
        isCertain(one, runs.length) && one.latestMs < possibleEndMs ? ('certain' as const) : ('possible' as const),
      code: one.first.code,
      cause: one.first.key.slice(one.first.code.length).trim(),
      message: one.first.message,
      nodes: [...one.nodes].toSorted(byName),
    }))
    .toSorted((a, b) => (a.certainty === b.certainty ? byName(a.cause, b.cause) : a.certainty === 'certain' ? -1 : 1))
}

function metBlockers(runs: readonly PlanRun[], doubts: readonly Blocker[]): readonly MetBlocker[] {
  const byKey = new Map<string, MetBlocker>()
  const knownAs = (first: Blocker) => {
    const fresh = { nodes: new Set<string>(), met: [], lasting: false, earliestMs: Infinity, latestMs: 0 }
    const known = byKey.get(first.key) ?? { first, ...fresh }
    byKey.set(first.key, known)
    return known
  }
  for (const { blockers, startedMs } of runs) {
    for (const same of Map.groupBy(blockers, ({ key }) => key).values()) {
      const [first] = same as [Blocker]
      const known = knownAs(first)
      const nodes = new Set(same.flatMap(({ node }) => node ?? []))
      for (const node of nodes) known.nodes.add(node)
      known.met.push(nodes)
      known.lasting ||= same.some(({ lasting }) => lasting)
      const firstMs = Math.min(...same.map(({ atMs = startedMs }) => atMs)) - startedMs
      known.earliestMs = Math.min(known.earliestMs, firstMs)
      known.latestMs = Math.max(known.latestMs, firstMs)
    }
  }
  const couldBe = (blocker: Blocker, atMs: number) => {
    const known = knownAs(blocker)
    known.earliestMs = Math.min(known.earliestMs, atMs)
    if (known.met.length === 0 && blocker.node !== undefined) known.nodes.add(blocker.node)
  }
  for (const { near, startedMs } of runs) {
    for (const blocker of near) couldBe(blocker, (blocker.atMs ?? startedMs) - startedMs)
  }
  for (const blocker of doubts) couldBe(blocker, 0)
  return [...byKey.values()]
}

function isCertain({ first, met, lasting, nodes }: MetBlocker, runs: number): boolean {
  if (!lasting || met.length < runs) return false
  return !first.placeMatters || [...nodes].some((node) => met.every((one) => one.has(node)))
}

function plannedWaves({ runs, racing, inTurn, titleOf }: ReportView): readonly PlannedWave[] {
  // One that was stopped early does not show where the others would have gone.
  const [longest, ...rest] = runs.toSorted((a, b) => b.taken.length - a.taken.length)
  const numbers = [...new Set(runs.flatMap(({ taken }) => taken.map(({ wave }) => wave)))].toSorted((a, b) => a - b)
  const stoppedIn = runs.every(({ phase }) => phase !== 'Succeeded') ? numbers.at(-1) : undefined
  // A gate after a node asks for what changes meanwhile: before which node it does hangs on how long the nodes take.
  const isMatterOfTime = runs.some(({ blockers }) => blockers.some(isGateOfNode))
  return numbers.map((wave) => {
    const lists = [longest, ...rest].map((run) => run?.taken.filter((node) => node.wave === wave) ?? [])
    const nodes = (lists[0] ?? []).map(({ name }, index) => {
      const places = lists.map((list) => list[index])
      const agreed = places.every((place) => place?.name === name && !place.afterMove)
      return { name, certain: agreed && index >= racing }
    })
    // Where all were stopped early, it is chance how far each came: whoever was taken in one may be, and whoever raced with them.
    const racers = wave === stoppedIn ? (inTurn[wave]?.slice(0, isMatterOfTime ? undefined : racing) ?? []) : []
    const first = new Set(nodes.map(({ name }) => name))
    const others = [...lists.flatMap((list) => list.map(({ name }) => name)), ...racers].filter(
      (name) => !first.has(name),
    )
    const further = [...new Set(others)].toSorted(byName).map((name) => ({ name, certain: false }))
    const all = [...nodes, ...further]
    return { title: titleOf(wave), total: all.length, nodes: all, ...timesOf(wave, middling(runs)) }
  })
}

function isGateOfNode({ code, node }: Blocker): boolean {
  return code === 'GateFailed' && node !== undefined
}

function timesOf(wave: number, run: PlanRun | undefined): Pick<PlannedWave, 'startSeconds' | 'endSeconds'> {
  const taken = run?.taken.filter((node) => node.wave === wave) ?? []
  if (!run || taken.length === 0) return {}
  const seconds = (ms: number) => Math.round((ms - run.startedMs) / 1000)
  return {
    startSeconds: seconds(Math.min(...taken.map(({ atMs }) => atMs))),
    endSeconds: seconds(Math.max(...taken.map(({ atMs, backMs }) => backMs ?? atMs))),
  }
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

// What the rehearsal of a part says of the whole: who is taken and in which order follows from the nodes alone as far as the rehearsal
// came, how long it takes from the times of the rehearsed, and what the look at all pods found is added.

import type { Blocker } from './blocker.ts'
import type { Itinerary } from './itinerary.ts'
import type { Finding } from './look.ts'
import type { PlanRun, TakenNode } from './plan-report.ts'
import { type NodeSet, timetable } from './timetable.ts'

export interface WholeView {
  readonly itinerary: Itinerary
  readonly rehearsed: ReadonlySet<string>
  readonly findings: readonly Finding[]
  /** After each wave of workers. */
  readonly soakMs: readonly number[]
  /** Sets of nodes with a budget of their own: they decide who goes next as well. */
  readonly setsOf: (node: string) => readonly NodeSet[]
  readonly drain: { readonly timeoutMs: number; readonly onTimeout: 'Hold' | 'Abort' | 'Force' }
  /** So many of the rehearsed workers stage at the same time: who of them is first is left to chance. */
  readonly racing: number
}

export function wholeRun(run: PlanRun, view: WholeView): PlanRun {
  const [controlPlane = [], ...waves] = view.itinerary.waves
  const taken = new Map(run.taken.map((node) => [node.name, node]))
  const leaders = run.taken.filter(({ name }) => controlPlane.includes(name))
  const isThrough = leaders.length === controlPlane.length
  const workers = isThrough ? reached(waves.flat(), view.rehearsed, taken) : []
  const hasEnded = isThrough && workers.length === waves.flat().length
  const certainUpTo = settledUpTo(workers, run, view)
  const waveOf = new Map(waves.flatMap((names, index) => names.map((name) => [name, index + 1] as const)))
  const found = findingsOf(view, hasEnded)
  const known = new Map(view.findings.map(({ blocker }) => [blocker.key, blocker.message]))
  const times = timesOf(run, workers, taken, view)
  return {
    ...run,
    durationMs: times.durationMs,
    taken: [
      ...leaders,
      ...workers.map((name, index) => ({
        ...(taken.get(name) ?? { name, atMs: run.startedMs, ...times.ofNode(name) }),
        wave: waveOf.get(name) ?? 1,
        afterMove: index >= certainUpTo,
      })),
    ],
    // The rehearsal counts the pods of its part only: where the look knows better, it is told in its words.
    blockers: [
      ...run.blockers.map((blocker) => ({ ...blocker, message: known.get(blocker.key) ?? blocker.message })),
      ...found.certain,
    ],
    near: [...run.near, ...found.possible],
  }
}

/** All in turn before the first of the rehearsed that was not taken. */
function reached(
  workers: readonly string[],
  rehearsed: ReadonlySet<string>,
  taken: ReadonlyMap<string, TakenNode>,
): readonly string[] {
  const end = workers.findIndex((name) => rehearsed.has(name) && !taken.has(name))
  return end < 0 ? workers : workers.slice(0, end)
}

/** The first place that is not as sure as the order itself: from there on the rehearsal did otherwise, or the operator had moved. */
function settledUpTo(workers: readonly string[], run: PlanRun, { rehearsed, racing, setsOf }: WholeView): number {
  if (workers.some((name) => setsOf(name).length > 0)) return 0
  const expected = workers.filter((name) => rehearsed.has(name))
  const members = new Set(expected)
  const met = run.taken.filter(({ name }) => members.has(name))
  const off = met.findIndex(({ name, afterMove }, index) => afterMove || (index >= racing && name !== expected[index]))
  return off < 0 ? workers.length : workers.indexOf(expected[off] ?? '')
}

function findingsOf({ findings, drain }: WholeView, hasEnded: boolean) {
  const certain: Blocker[] = []
  const possible: Blocker[] = []
  for (const { certainty, blocker, nodes } of findings) {
    if (blocker.code === 'GateFailed') possible.push(blocker)
    else if (drain.onTimeout === 'Abort') {
      const { message } = blocker
      possible.push(
        ...nodes.map((node) => {
          return { key: `DrainAborted Node ${node}`, code: 'DrainAborted', message, node, lasting: false }
        }),
      )
    } else if (certainty === 'certain' && hasEnded) certain.push(...nodes.map((node) => ({ ...blocker, node })))
    else possible.push(...nodes.map((node) => ({ ...blocker, node })))
  }
  return { certain, possible }
}

/** The rest goes as the rehearsed that nothing held up, one after the other. */
function timesOf(
  run: PlanRun,
  workers: readonly string[],
  taken: ReadonlyMap<string, TakenNode>,
  { itinerary, findings, soakMs, setsOf, drain }: WholeView,
): WholeTimes {
  const members = new Set(workers)
  const met = run.taken.filter(({ name }) => members.has(name))
  const first = Math.min(...met.map(({ atMs }) => atMs))
  if (!Number.isFinite(first)) return { durationMs: run.durationMs, ofNode: () => undefined }
  const heldUp = new Set(run.blockers.map(({ node }) => node))
  const spans = met.flatMap(({ name, atMs, backMs }) =>
    backMs === undefined || heldUp.has(name) ? [] : [backMs - atMs],
  )
  const last = Math.max(...met.map(({ atMs, backMs }) => backMs ?? atMs))
  const tailMs = run.startedMs + run.durationMs - last
  const late = new Set(findings.flatMap(({ certainty, nodes }) => (certainty === 'certain' ? nodes : [])))
  let next = 0
  const alikeMs = () => spans[next++ % Math.max(1, spans.length)] ?? 0
  const { endMs, nodes } = timetable({
    waves: itinerary.waves
      .slice(1)
      .map((names, index) => ({ nodes: names.filter((name) => members.has(name)), soakMs: soakMs[index] ?? 0 })),
    atOnce: itinerary.atOnce,
    setsOf,
    msOf: (name) => {
      const { atMs, backMs } = taken.get(name) ?? {}
      if (atMs !== undefined && backMs !== undefined) return backMs - atMs
      return alikeMs() + (late.has(name) ? drain.timeoutMs : 0)
    },
  })
  return {
    durationMs: first - run.startedMs + endMs + Math.max(0, tailMs),
    ofNode: (name) => {
      const time = nodes.get(name)
      return time && { atMs: first + time.atMs, backMs: first + time.backMs }
    },
  }
}

interface WholeTimes {
  readonly durationMs: number
  readonly ofNode: (name: string) => Pick<TakenNode, 'atMs' | 'backMs'> | undefined
}

// A rehearsal knows no windows: nobody would see anything in the days between them. What it came to is laid over the calendar here:
// each node begins where it can be done before the time is over, and what comes behind it moves along.

import type { Reason } from '../../api/reason.ts'
import type { WorkKind } from '../../api/window.ts'
import { type Calendar, judgeTime } from '../time/calendar.ts'
import { allOf } from '../time/spans.ts'

export interface SittingsView {
  /** Of the cluster and of the update itself. */
  readonly calendars: readonly Calendar[]
  readonly kind: WorkKind
  /** When it would be asked for. */
  readonly fromMs: number
}

/** What is done of it while the windows are open once. */
export interface Sitting {
  readonly from: string
  /** When the windows close; absent: they do not. */
  readonly closes?: string
  readonly nodes: number
  /** All that are done by its end. */
  readonly done: number
}

export interface Schedule {
  readonly starts: string
  readonly ends: string
  readonly sittings: readonly Sitting[]
}

export type Seated =
  | { readonly seated: true; readonly schedule: Schedule; readonly spanMs: number }
  | { readonly seated: false; readonly reason: Reason }

export interface WorkedNode {
  /** From the beginning of the rehearsal. */
  readonly atMs: number
  readonly backMs: number
}

/** `workMs`: how long all of it takes where it may start at any time. */
export function seat(nodes: readonly WorkedNode[], workMs: number, view: SittingsView): Seated {
  const { calendars, kind, fromMs } = view
  const opening = allOf(calendars.map((calendar) => calendar.openingFor(kind)))
  const sittings: { fromMs: number; toMs: number; nodes: number }[] = []
  const inTurn = nodes.toSorted((a, b) => a.atMs - b.atMs)
  const usualMs = medianOf(inTurn.map(({ atMs, backMs }) => backMs - atMs))
  let shiftMs = fromMs
  let endMs = fromMs
  for (const [index, { atMs, backMs }] of inTurn.entries()) {
    // Of the first nobody has measured anything yet.
    const neededMs = index === 0 ? undefined : usualMs
    for (;;) {
      const { closed, againAtMs } = judgeTime(calendars, kind, atMs + shiftMs, neededMs)
      if (!closed) break
      if (againAtMs === undefined) return { seated: false, reason: closed }
      shiftMs = againAtMs - atMs
    }
    const span = opening.at(atMs + shiftMs)
    const last = sittings.at(-1)
    if (last && atMs + shiftMs < last.toMs) last.nodes++
    else sittings.push({ fromMs: atMs + shiftMs, toMs: span?.toMs ?? Number.POSITIVE_INFINITY, nodes: 1 })
    endMs = Math.max(endMs, backMs + shiftMs)
  }
  const lastBackMs = Math.max(0, ...inTurn.map(({ backMs }) => backMs))
  endMs += Math.max(0, workMs - lastBackMs)
  let done = 0
  return {
    seated: true,
    spanMs: endMs - fromMs,
    schedule: {
      starts: instant(sittings[0]?.fromMs ?? fromMs),
      ends: instant(endMs),
      sittings: sittings.map((sitting) => {
        done += sitting.nodes
        const closes = Number.isFinite(sitting.toMs) && { closes: instant(sitting.toMs) }
        return { from: instant(sitting.fromMs), ...closes, nodes: sitting.nodes, done }
      }),
    },
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function instant(ms: number): string {
  return new Date(Math.round(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

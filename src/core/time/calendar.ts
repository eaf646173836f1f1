// Whether work of a kind may start now, by all windows and freezes that speak of it, and when it may next. Whatever of them
// cannot be read closes everything: a window that is spelt wrong must not open the whole week.

import type { Reason } from '../../api/reason.ts'
import type { FreezeSpec, WindowSpec, WorkKind } from '../../api/window.ts'
import { formatDuration } from '../duration.ts'
import { allOf, always, anyOf, type Opening, outside, type Span } from './spans.ts'
import { readFreeze, readWindow } from './window.ts'

export interface CalendarTerms {
  readonly windows?: readonly WindowSpec[] | undefined
  readonly freezes?: readonly FreezeSpec[] | undefined
}

interface Freeze extends Span {
  readonly reason: string
  readonly work: readonly WorkKind[] | undefined
}

export class Calendar {
  readonly problem: string | undefined
  readonly #windows: readonly { readonly opening: Opening; readonly work: readonly WorkKind[] | undefined }[]
  readonly #freezes: readonly Freeze[]
  readonly #isWindowed: boolean

  constructor({ windows = [], freezes = [] }: CalendarTerms) {
    const problems: string[] = []
    this.#isWindowed = windows.length > 0
    this.#windows = windows.flatMap((spec) => {
      const read = readWindow(spec)
      if ('value' in read) return [{ opening: read.value, work: spec.work }]
      problems.push(read.problem)
      return []
    })
    this.#freezes = freezes.flatMap((spec) => {
      const read = readFreeze(spec)
      if ('value' in read) return [{ ...read.value, reason: spec.reason, work: spec.work }]
      problems.push(read.problem)
      return []
    })
    this.problem = problems[0]
  }

  openingFor(work: WorkKind): Opening {
    const windows = this.#isWindowed
      ? anyOf(this.#windows.filter(speaksOf(work)).map(({ opening }) => opening))
      : always
    return allOf([windows, outside(this.#freezes.filter(speaksOf(work)))])
  }

  freezeAt(work: WorkKind, atMs: number): (Span & { readonly reason: string }) | undefined {
    return this.#freezes.filter(speaksOf(work)).find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
  }
}

function speaksOf(work: WorkKind) {
  return ({ work: kinds }: { readonly work: readonly WorkKind[] | undefined }) => kinds?.includes(work) ?? true
}

export interface TimeVerdict {
  /** Why nothing of this work may start now. */
  readonly closed?: Reason
  /** When that may have changed; nothing when it never does. */
  readonly againAtMs?: number
}

/**
 * Judges one kind of work by several calendars at once: those of the cluster and of the operation itself. `neededMs` is how
 * long a node takes as measured so far: what would not be done before the time is over is not begun.
 */
export function judgeTime(
  calendars: readonly Calendar[],
  work: WorkKind,
  atMs: number,
  neededMs: number | undefined,
): TimeVerdict {
  const opening = allOf(calendars.map((calendar) => calendar.openingFor(work)))
  const span = opening.at(atMs)
  if (!span)
    return {
      closed: {
        code: 'WindowNeverOpens',
        message: `no window for this kind of work (${work}) opens again; correct spec.windows or spec.freezes`,
      },
    }
  if (span.fromMs > atMs) {
    const next = at(span.fromMs)
    const freeze = calendars.map((calendar) => calendar.freezeAt(work, atMs)).find((found) => found !== undefined)
    const closed: Reason = freeze
      ? {
          code: 'Frozen',
          message: `frozen until ${at(freeze.toMs)}: ${freeze.reason}; work may start at ${next}`,
          nextCheck: next,
        }
      : {
          code: 'OutsideWindow',
          message: `outside the maintenance windows; the next opens at ${next}`,
          nextCheck: next,
        }
    return { closed, againAtMs: span.fromMs }
  }
  const leftMs = span.toMs - atMs
  const after = neededMs !== undefined && neededMs > leftMs ? opening.at(span.toMs) : undefined
  // What no window is long enough for is begun in its first half; where none comes after this one, it is now or never.
  if (neededMs !== undefined && after && Math.min(neededMs, (after.toMs - after.fromMs) / 2) > leftMs) {
    const next = at(after.fromMs)
    return {
      closed: {
        code: 'WindowTooShort',
        message: `a node takes about ${formatDuration(neededMs)}, and the window closes in ${formatDuration(leftMs)}; the next opens at ${next}`,
        nextCheck: next,
      },
      againAtMs: span.toMs,
    }
  }
  return Number.isFinite(span.toMs) ? { againAtMs: span.toMs } : {}
}

function at(ms: number): string {
  return new Date(ms).toISOString().replace(/\.000Z$/, 'Z')
}

// From instants to places on a line, with long quiet stretches folded to a strip. All that is not folded has one scale.

import { dayMs, hourMs, minuteMs, type ZoneClock } from './wall-clock.ts'

export interface Span {
  readonly from: number
  readonly to: number
}

/** In percent of the line. */
export interface Stretch extends Span {
  readonly left: number
  readonly width: number
  readonly folded: boolean
}

export interface Tick {
  readonly at: number
  readonly left: number
  readonly time: string
  /** At the first tick of a day, and of what follows a fold. */
  readonly day?: string
}

export interface FoldedScale extends Span {
  readonly stretches: readonly Stretch[]
  /** 0 to 100; what lies outside comes to lie on the edge. */
  readonly at: (ms: number) => number
}

const fold = { percent: 5, mostPercent: 40, leastMs: 2 * hourMs } as const
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * minuteMs)
const ticksWanted = 12
/** Closer than this, two labels run into each other. */
const labelPercent = 4.5

/** Shows `range`; what lies far from everything in `kept` is folded. */
export function foldedScale(range: Span, kept: readonly Span[], leastFoldMs: number = fold.leastMs): FoldedScale {
  const folds = gaps(range, kept).filter((gap) => length(gap) >= leastFoldMs)
  const foldPercent = Math.min(fold.percent, fold.mostPercent / Math.max(1, folds.length))
  const shown = gaps(range, folds)
  const shownMs = shown.reduce((sum, span) => sum + length(span), 0)
  const percentOfMs = (100 - foldPercent * folds.length) / Math.max(1, shownMs)
  const inOrder = [
    ...folds.map((span) => ({ ...span, folded: true, width: foldPercent })),
    ...shown.map((span) => ({ ...span, folded: false, width: length(span) * percentOfMs })),
  ].sort((a, b) => a.from - b.from)
  let left = 0
  const stretches = inOrder.map((stretch) => {
    const placed = { ...stretch, left }
    left += stretch.width
    return placed
  })
  return { ...range, stretches, at: (ms) => place(stretches, ms) }
}

/** The pieces of a span that are not folded away. */
export function shownPieces(scale: FoldedScale, span: Span): readonly Span[] {
  return scale.stretches.flatMap((stretch) => {
    const [from, to] = [Math.max(stretch.from, span.from), Math.min(stretch.to, span.to)]
    return stretch.folded || from >= to ? [] : [{ from, to }]
  })
}

/** At round times of the wall clock, as many as can be read. */
export function ticks(scale: FoldedScale, clock: ZoneClock): readonly Tick[] {
  const shown = scale.stretches.filter(({ folded }) => !folded)
  const shownMs = shown.reduce((sum, span) => sum + length(span), 0)
  const stepMs = steps.find((step) => shownMs / step <= ticksWanted) ?? Math.ceil(shownMs / ticksWanted / dayMs) * dayMs
  const result: Tick[] = []
  for (const stretch of shown) {
    let [day, last] = ['', Number.NEGATIVE_INFINITY]
    for (let at = firstRound(stretch.from, stepMs, clock); at <= stretch.to; at += stepMs) {
      const left = scale.at(at)
      if (left - last < labelPercent) continue
      last = left
      const today = clock.day(at)
      result.push({ at, left, time: clock.time(at), ...(today !== day && { day: today }) })
      day = today
    }
  }
  return result
}

/** What of the range none of the spans covers. */
export function gaps(range: Span, spans: readonly Span[]): readonly Span[] {
  const result: Span[] = []
  let at = range.from
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    if (from > at) result.push({ from: at, to: Math.min(from, range.to) })
    at = Math.max(at, to)
    if (at >= range.to) return result
  }
  return at < range.to ? [...result, { from: at, to: range.to }] : result
}

function place(stretches: readonly Stretch[], ms: number): number {
  const here = stretches.find(({ to }) => ms <= to)
  if (here === undefined) return stretches.length === 0 ? 0 : 100
  const share = Math.max(0, ms - here.from) / Math.max(1, length(here))
  return here.left + share * here.width
}

/** Whole steps of the day on the wall, so that 22:00 is one in zones that are half an hour off too. */
function firstRound(from: number, stepMs: number, clock: ZoneClock): number {
  const { hour, minute } = clock.read(from)
  const wholeMinute = Math.floor(from / minuteMs) * minuteMs
  const sinceMidnight = hour * hourMs + minute * minuteMs
  const past = sinceMidnight % stepMs
  const at = wholeMinute - past
  return at < from ? at + stepMs : at
}

function length({ from, to }: Span): number {
  return to - from
}

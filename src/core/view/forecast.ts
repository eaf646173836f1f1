// When the rest of an update will be done: by the times its nodes took so far, before the first by what the planner assumed. Work
// rests while no window is open. A forecast is a range, never one number.

import type { Opening } from '../time/spans.ts'

/** Milliseconds for one node. */
export interface NodeTime {
  readonly least: number
  readonly likely: number
  readonly most: number
}

export interface ForecastWave {
  /** Still to be done, those under work counted in. */
  readonly left: number
  readonly working: number
  /** How long those under work have been at it, the longest. */
  readonly elapsedMs: number
  readonly atOnce: number
  /** Of the time to look at it that is still to come. */
  readonly soakMs: number
}

export interface ForecastSpan {
  readonly startMs: number
  readonly endMs: number
}

/** So many measured nodes say what a node takes. */
const enoughMeasured = 1

export function nodeTime(tookMs: readonly number[], assumedMs: number): NodeTime {
  if (tookMs.length < enoughMeasured) return { least: assumedMs * 0.6, likely: assumedMs, most: assumedMs * 2 }
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (ratio: number) => sorted[Math.round((sorted.length - 1) * ratio)] ?? assumedMs
  const likely = at(0.5)
  // One or two say little of how far they differ.
  return { least: Math.min(at(0.1), likely * 0.8), likely, most: Math.max(at(0.9), likely * 1.3) }
}

/** Of each wave that has not ended, one after another from now on. */
export function forecast(
  waves: readonly ForecastWave[],
  oneMs: number,
  nowMs: number,
  opening: Opening,
): readonly ForecastSpan[] {
  let atMs = nowMs
  return waves.map(({ left, working, elapsedMs, atOnce, soakMs }) => {
    const startMs = working > 0 ? atMs : (opening.at(atMs)?.fromMs ?? atMs)
    const underWorkMs = working > 0 ? Math.max(oneMs * 0.1, oneMs - elapsedMs) : 0
    const rounds = Math.ceil(Math.max(0, left - working) / Math.max(1, atOnce))
    const endMs = afterWork(opening, startMs, underWorkMs + rounds * oneMs)
    atMs = endMs + soakMs
    return { startMs, endMs }
  })
}

const mostSpans = 400

/** The instant at which so much time has passed in which it was open. */
function afterWork(opening: Opening, fromMs: number, workMs: number): number {
  let atMs = fromMs
  let left = workMs
  for (let spans = 0; left > 0 && spans < mostSpans; spans++) {
    const span = opening.at(atMs)
    if (!span) return atMs + left
    const startMs = Math.max(span.fromMs, atMs)
    if (startMs + left <= span.toMs) return startMs + left
    left -= span.toMs - startMs
    atMs = span.toMs
  }
  return atMs + left
}

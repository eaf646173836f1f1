// Stretches of time: where one is open, until when, and when the next opens.

export interface Span {
  readonly fromMs: number
  /** The first millisecond that no longer belongs to it. */
  readonly toMs: number
}

/** What is open in some stretches of time. */
export interface Opening {
  /** The stretch that holds this instant, or the first after it; nothing when it never opens again. */
  readonly at: (atMs: number) => Span | undefined
}

/** However often one stretch follows on another, it has to end: a year is longer than anybody plans ahead. */
const longestMs = 366 * 86_400_000
const mostSteps = 2000

export const always: Opening = { at: (atMs) => ({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY }) }

/** Open where one of them is; stretches that touch are one. */
export function anyOf(openings: readonly Opening[]): Opening {
  return {
    at(atMs) {
      const first = earliest(openings, atMs)
      if (!first) return undefined
      let { toMs } = first
      for (let step = 0; step < mostSteps && toMs - atMs < longestMs; step++) {
        const longer = openings
          .map((opening) => opening.at(toMs))
          .filter((span) => span !== undefined && span.fromMs <= toMs && span.toMs > toMs)
        if (longer.length === 0) break
        toMs = Math.max(...longer.map((span) => span?.toMs ?? toMs))
      }
      return { fromMs: first.fromMs, toMs }
    },
  }
}

/** Open where all of them are. */
export function allOf(openings: readonly Opening[]): Opening {
  return {
    at(atMs) {
      let fromMs = atMs
      for (let step = 0; step < mostSteps; step++) {
        const spans = openings.map((opening) => opening.at(fromMs))
        if (!spans.every((span) => span !== undefined)) return undefined
        const latest = Math.max(fromMs, ...spans.map((span) => span.fromMs))
        if (latest === fromMs) return { fromMs, toMs: Math.min(...spans.map((span) => span.toMs)) }
        fromMs = latest
      }
      return undefined
    },
  }
}

/** Open where none of these stretches lies. */
export function outside(spans: readonly Span[]): Opening {
  return {
    at(atMs) {
      let fromMs = atMs
      for (;;) {
        const inside = spans.filter((span) => span.fromMs <= fromMs && fromMs < span.toMs)
        if (inside.length === 0) break
        fromMs = Math.max(...inside.map(({ toMs }) => toMs))
      }
      if (!Number.isFinite(fromMs)) return undefined
      const next = spans.filter((span) => span.fromMs > fromMs).map((span) => span.fromMs)
      return { fromMs, toMs: Math.min(Number.POSITIVE_INFINITY, ...next) }
    },
  }
}

function earliest(openings: readonly Opening[], atMs: number): Span | undefined {
  let found: Span | undefined
  for (const opening of openings) {
    const span = opening.at(atMs)
    if (span && (!found || span.fromMs < found.fromMs)) found = span
  }
  return found
}

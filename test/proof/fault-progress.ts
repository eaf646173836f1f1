// How far a long proof has come, as a file: which seeds were run on which commit, and what they showed. It can be stopped at any
// moment and loses at most the slices that were under way. It holds for the sources it began with: of others it says nothing.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const count = z.int().min(0)
export const rangeSchema = z.object({ first: z.int(), last: z.int(), commit: z.string() })
const violationSchema = z.object({ seed: z.int(), rule: z.string(), message: z.string() })

const progressSchema = z.object({
  sources: z.string(),
  /** Without a broken rule. */
  done: z.array(rangeSchema),
  /** What they showed is in no figure. */
  broken: z.array(rangeSchema.extend({ violations: z.array(violationSchema) })),
  cpuSeconds: z.number().min(0),
  faults: z.record(z.string(), count),
  together: z.record(z.string(), count),
})

export type FaultProgress = z.infer<typeof progressSchema>

export interface Range {
  readonly first: number
  readonly last: number
}

export interface SliceReport extends Range {
  readonly commit: string
  readonly cpuSeconds: number
  readonly violations: readonly z.infer<typeof violationSchema>[]
  readonly faults: Readonly<Record<string, number>>
  readonly together: Readonly<Record<string, number>>
}

export function nothingDone(sources: string): FaultProgress {
  return { sources, done: [], broken: [], cpuSeconds: 0, faults: {}, together: {} }
}

/** What is left of seeds 1 to `last`, in slices. */
export function slicesLeft({ done, broken }: FaultProgress, last: number, size: number): readonly Range[] {
  const known = [...done, ...broken].sort((a, b) => a.first - b.first)
  const left: Range[] = []
  let next = 1
  for (const range of [...known, { first: last + 1, last: Number.POSITIVE_INFINITY }]) {
    for (; next < range.first && next <= last; next += size)
      left.push({ first: next, last: Math.min(next + size, range.first, last + 1) - 1 })
    next = Math.max(range.last + 1, Math.min(next, range.first))
  }
  return left
}

export function withSlice(progress: FaultProgress, slice: SliceReport): FaultProgress {
  const { first, last, commit, cpuSeconds, violations, faults, together } = slice
  if (violations.length > 0) {
    return { ...progress, broken: [...progress.broken, { first, last, commit, violations: violations.slice(0, 20) }] }
  }
  return {
    ...progress,
    done: joined([...progress.done, { first, last, commit }]),
    cpuSeconds: progress.cpuSeconds + cpuSeconds,
    faults: sum(progress.faults, faults),
    together: sum(progress.together, together),
  }
}

export function runsDone({ done }: FaultProgress): number {
  return done.reduce((runs, { first, last }) => runs + last - first + 1, 0)
}

/** Undefined where there is none. */
export function loadProgress(path: string): FaultProgress | undefined {
  try {
    return progressSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read: remove it to start anew`, { cause: error })
  }
}

/** Whole or not at all. */
export function saveProgress(path: string, progress: FaultProgress): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, `${JSON.stringify(progress)}\n`)
  renameSync(`${path}.new`, path)
}

function joined(ranges: readonly z.infer<typeof rangeSchema>[]): FaultProgress['done'] {
  const all: z.infer<typeof rangeSchema>[] = []
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = all.at(-1)
    if (before?.last === range.first - 1 && before.commit === range.commit)
      all[all.length - 1] = { ...before, last: range.last }
    else all.push(range)
  }
  return all
}

function sum(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const total: Record<string, number> = { ...a }
  for (const [key, value] of Object.entries(b)) total[key] = (total[key] ?? 0) + value
  return total
}

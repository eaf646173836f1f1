// What of the exhaustive proof has been done so far, kept so that it can be stopped at any time and gone on with, for the same
// sources only; and the figures it leaves behind.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CrashPoint } from './crash-points.ts'
import type { FirstCrash, Violation } from './exhaustive-lane.ts'
import { byVictim } from './exhaustive-text.ts'
import { keepResult, today } from './kept-results.ts'

export interface Progress {
  readonly sources: string
  seconds: number
  readonly done: FirstCrash[]
}

const project = join(import.meta.dirname, '../..')
const progressFile = join(project, '.cache/proof/exhaustive.json')

/** The first crashes in an order that soon touches every part of the history. */
export function spread(points: number): readonly number[] {
  const stride = [197, 193, 191].find((prime) => points % prime !== 0) ?? 1
  return Array.from({ length: points }, (_, index) => (index * stride) % points)
}

export function readProgress(sources: string): Progress {
  const kept = keptProgress()
  return kept?.sources === sources ? kept : { sources, seconds: 0, done: [] }
}

/** Whole or not at all. */
export function writeProgress(progress: Progress): void {
  mkdirSync(dirname(progressFile), { recursive: true })
  writeFileSync(`${progressFile}.new`, `${JSON.stringify(progress)}\n`)
  renameSync(`${progressFile}.new`, progressFile)
}

export interface Outcome {
  /** Of a first point and any later moment. */
  readonly pairs: number
  /** Of the pairs, those that are not the same as another. */
  readonly run: number
  readonly violations: readonly Violation[]
  readonly slowest: FirstCrash['slowest'] | undefined
  readonly seconds: number
}

export function keepRecord(commit: string, points: readonly CrashPoint[], progress: Progress): Outcome {
  const { done } = progress
  const sum = (of: (one: FirstCrash) => number) => done.reduce((total, one) => total + of(one), 0)
  const violations = done.flatMap((one) => one.violations)
  const run = sum((one) => one.pairs)
  const folded = sum((one) => one.foldedPairs)
  const [slowest] = done.map((one) => one.slowest).toSorted((a, b) => b.tookMs - a.tookMs)
  const seconds = Math.round(progress.seconds)
  keepResult('exhaustive', {
    date: today(),
    commit,
    command: 'make exhaustive',
    nodes: 3,
    points: byVictim(points),
    singles: points.length,
    pairs: run + folded,
    folded,
    violations: violations.length,
    cpuSeconds: Math.round(sum((one) => one.cpuSeconds)),
  })
  return { pairs: run + folded, run, violations, slowest, seconds }
}

function keptProgress(): Progress | undefined {
  try {
    return JSON.parse(readFileSync(progressFile, 'utf8')) as Progress
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${progressFile} cannot be read: remove it to start anew`, { cause: error })
  }
}

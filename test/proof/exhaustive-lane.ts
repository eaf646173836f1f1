// Every history with one first crash: that one alone, then with each later point as the second.

import type { Finding } from '../../src/main/simulation/fault-run-end.ts'
import { type History, tellHistory } from './crash-history.ts'
import type { CrashPoint } from './crash-points.ts'

export interface Violation extends Finding {
  readonly crashes: readonly number[]
  readonly struck: readonly CrashPoint[]
}

/** A history, and what was wrong with it. */
export interface Judged extends History {
  readonly violations: readonly Violation[]
}

/** What became of all histories with one first crash. */
export interface FirstCrash {
  readonly first: number
  readonly pairs: number
  readonly foldedPairs: number
  readonly violations: readonly Violation[]
  readonly slowest: { readonly crashes: readonly number[]; readonly tookMs: number }
  readonly cpuSeconds: number
}

export async function tellAllAfter(
  first: number,
  point: CrashPoint | undefined,
  onHistory: () => void,
): Promise<FirstCrash> {
  const cpu = process.cpuUsage()
  const single = await tellSingle(first, point)
  onHistory()
  const { points, folded } = single
  const violations = [...single.violations]
  let slowest: FirstCrash['slowest'] = { crashes: [first], tookMs: single.tookMs }
  for (let second = first + 1; second < points.length; second++) {
    const crashes = [first, second]
    const pair = await tellPair(first, second, single)
    violations.push(...pair.violations)
    if (pair.tookMs > slowest.tookMs) slowest = { crashes, tookMs: pair.tookMs }
    onHistory()
  }
  const { user, system } = process.cpuUsage(cpu)
  const cpuSeconds = (user + system) / 1e6
  return { first, pairs: points.length - first - 1, foldedPairs: folded, violations, slowest, cpuSeconds }
}

/** With a crash at that point of the untroubled history. */
export function tellSingle(first: number, point: CrashPoint | undefined): Promise<Judged> {
  return tell([first], point)
}

/** With a second crash at that point of the history that has the first one only. */
export function tellPair(first: number, second: number, single: History): Promise<Judged> {
  return tell([first, second], single.points[second])
}

async function tell(crashes: readonly number[], expected: CrashPoint | undefined): Promise<Judged> {
  const history = await tellHistory({ crashes })
  const { struck, findings } = history
  const found = [...strayed(crashes, struck, expected), ...findings]
  return { ...history, violations: found.map((finding) => ({ ...finding, crashes, struck })) }
}

/** A history told again is the same up to its last crash; anything else would prove nothing. */
function strayed(
  crashes: readonly number[],
  struck: readonly CrashPoint[],
  expected: CrashPoint | undefined,
): readonly Finding[] {
  const last = struck.at(-1)
  const isSame = struck.length === crashes.length && last?.what === expected?.what && last?.atMs === expected?.atMs
  if (isSame) return []
  const message = `point ${crashes.at(-1)} is not what it was: ${last?.what}, not ${expected?.what}`
  return [{ rule: 'replay', message }]
}

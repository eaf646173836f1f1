// The runs that were, each with what it took and what had been predicted of it.

import type { PlanAnswer, RunView } from '../../../api/console.ts'
import { isEnded } from '../../parts/update-look.ts'

export interface RunRow extends RunView {
  readonly tookSeconds?: number
  /** By the last plan that was made before it started. */
  readonly predictedSeconds?: number
}

export const runFilters = ['All', 'Under way', 'Succeeded', 'Failed'] as const
export type RunFilter = (typeof runFilters)[number]

export function runRows(runs: readonly RunView[], plans: readonly PlanAnswer[], now: number): readonly RunRow[] {
  return runs
    .map((run) => {
      const predictedSeconds = predictionOf(run, plans)
      const ends = run.finishedAt === undefined ? now : Date.parse(run.finishedAt)
      const counts = run.finishedAt !== undefined || !isEnded(run.phase)
      return {
        ...run,
        ...(counts && { tookSeconds: Math.max(0, (ends - Date.parse(run.startedAt)) / 1_000) }),
        ...(predictedSeconds !== undefined && { predictedSeconds }),
      }
    })
    .sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
}

export function matching(rows: readonly RunRow[], filter: RunFilter, words: string): readonly RunRow[] {
  const wanted = words.trim().toLowerCase()
  return rows.filter(
    (row) =>
      isIn(row, filter) &&
      [row.update, row.target, row.operationID, row.phase, row.askedBy ?? 'unknown'].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
  )
}

/** `The last 10 runs: 6 succeeded`, and how far predictions of those were off in the middle case. */
export function runSentence(rows: readonly RunRow[]): { readonly title: string; readonly offSeconds?: number } {
  const succeeded = rows.filter(({ phase }) => phase === 'Succeeded')
  const off = succeeded
    .flatMap(({ tookSeconds, predictedSeconds }) =>
      tookSeconds === undefined || predictedSeconds === undefined ? [] : [Math.abs(tookSeconds - predictedSeconds)],
    )
    .sort((a, b) => a - b)
  const middle = off[Math.floor((off.length - 1) / 2)]
  if (rows.length === 0) return { title: 'Nothing ran yet' }
  const title =
    rows.length === 1
      ? `One run: ${succeeded.length === 1 ? 'it succeeded' : 'not succeeded yet'}`
      : `The last ${rows.length} runs: ${succeeded.length} succeeded`
  return { title, ...(middle !== undefined && { offSeconds: middle }) }
}

export interface Accuracy {
  /** In percent of the longest that is shown. */
  readonly real: number
  readonly predicted?: number
}

/** All bars of a table have one scale, so that they can be compared. */
export function accuracy({ tookSeconds = 0, predictedSeconds }: RunRow, rows: readonly RunRow[]): Accuracy {
  const longest = Math.max(1, ...rows.flatMap((row) => [row.tookSeconds ?? 0, row.predictedSeconds ?? 0]))
  return {
    real: (tookSeconds / longest) * 100,
    ...(predictedSeconds !== undefined && { predicted: (predictedSeconds / longest) * 100 }),
  }
}

function isIn({ phase }: RunRow, filter: RunFilter): boolean {
  switch (filter) {
    case 'All':
      return true
    case 'Succeeded':
      return phase === 'Succeeded'
    case 'Failed':
      return phase === 'Failed' || phase === 'RequiresAttention'
    case 'Under way':
      return !isEnded(phase)
  }
}

function predictionOf({ update, target, startedAt }: RunView, plans: readonly PlanAnswer[]): number | undefined {
  const before = plans.filter(
    (plan) => plan.update === update && plan.target === target && Date.parse(plan.at) <= Date.parse(startedAt),
  )
  const [last] = before.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return last?.durationSeconds.expected
}

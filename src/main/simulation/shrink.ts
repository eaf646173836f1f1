// Makes a failing history as short as it can: leaves out one part after the other, as long as the same rule is broken.

import type { FaultHistory } from './fault-history.ts'
import { leaveOut, partsOf } from './fault-parts.ts'
import type { FaultRunResult } from './fault-run.ts'

export interface ShrunkHistory {
  readonly history: FaultHistory
  readonly result: FaultRunResult
  /** What was left out. */
  readonly without: readonly string[]
}

export async function shrink(
  history: FaultHistory,
  result: FaultRunResult,
  rule: string,
  run: (history: FaultHistory) => Promise<FaultRunResult>,
  signal: AbortSignal,
): Promise<ShrunkHistory> {
  let shrunk: ShrunkHistory = { history, result, without: [] }
  for (let isShorter = true; isShorter && !signal.aborted; ) {
    isShorter = false
    for (const part of partsOf(shrunk.history, shrunk.result.hits)) {
      if (signal.aborted || !partsOf(shrunk.history, shrunk.result.hits).includes(part)) continue
      const candidate = leaveOut(shrunk.history, part)
      const tried = await run(candidate)
      if (!tried.violations.some((violation) => violation.rule === rule)) continue
      shrunk = { history: candidate, result: tried, without: [...shrunk.without, part] }
      isShorter = true
    }
  }
  return shrunk
}

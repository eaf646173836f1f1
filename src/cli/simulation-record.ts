// A saved simulation, and whether another run of it was the same to the byte.

import { type RecordedRun, type SimulationRecord, simulationRecordSchema } from '../api/simulation-record.ts'
import type { SimulateOptions } from './dependencies.ts'
import { parseSaved } from './saved-file.ts'

export function recordText(program: string, options: SimulateOptions, runs: readonly RecordedRun[]): string {
  return JSON.stringify({ kind: 'SimulationRecord', version: 1, program, options, runs }, null, 2)
}

export function parseRecord(text: string, path: string): SimulationRecord {
  const madeBy = 'slipway simulate --record run.json'
  return parseSaved({ schema: simulationRecordSchema, what: 'saved simulation', madeBy }, text, path)
}

/** Where two runs part, in a person's words; undefined when every write is the same. */
export function differenceOf(before: readonly RecordedRun[], after: readonly RecordedRun[]): string | undefined {
  for (const [index, { seed, writes, sha256 }] of before.entries()) {
    const again = after[index]
    if (!again) return `seed ${seed} was not run again`
    const mark = sha256.findIndex((digest, place) => digest !== again.sha256[place])
    if (mark >= 0) return `seed ${seed}: another write among the thousand after ${mark * 1000}`
    if (again.writes !== writes) return `seed ${seed}: ${again.writes} writes, not ${writes}`
  }
  return undefined
}

export function replayText(
  { program, runs }: SimulationRecord,
  difference: string | undefined,
  version: string,
): string {
  const writes = runs.reduce((sum, run) => sum + run.writes, 0)
  if (difference === undefined) return `the same again: ${runs.length} runs, ${writes} writes, each to the byte\n`
  const other = program === version ? '' : `; it was saved by version ${program}, this is ${version}`
  return `not the same: ${difference}${other}\n`
}

// A simulation as a file: what it was asked, and a digest of every write it made, so that it can be played again to the byte.

import { z } from 'zod'
import { countOrPercent, sha256Text } from './scalars.ts'

export const simulationOptionsSchema = z.strictObject({
  nodes: z.int().min(1).max(10_000).optional(),
  podsPerNode: z.int().min(0).max(110),
  faults: z.union([z.enum(['none', 'all']), z.array(z.string().max(64)).max(64)]),
  seeds: z.strictObject({ first: z.int().min(0), last: z.int().min(0) }),
  maxUnavailable: countOrPercent,
  /** Parts of the histories with faults that are left out. */
  without: z.array(z.string().max(64)).max(200).optional(),
})

export const recordedRunSchema = z.strictObject({
  seed: z.int(),
  writes: z.int().min(0),
  /** Of the writes so far, after each thousand and at the end: where two runs part can be told to the thousand. */
  sha256: z.array(sha256Text),
})

export const simulationRecordSchema = z.strictObject({
  kind: z.literal('SimulationRecord'),
  version: z.literal(1),
  /** Of the program: another one may decide otherwise. */
  program: z.string().max(64),
  options: simulationOptionsSchema,
  runs: z.array(recordedRunSchema),
})

export type SimulationRecord = z.infer<typeof simulationRecordSchema>
export type RecordedRun = z.infer<typeof recordedRunSchema>

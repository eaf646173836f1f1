// What a proof leaves behind: docs/proof/NAME.json, from which docs/reliability.md is made. Fields beyond these may stand there.

import { z } from 'zod'
import { rangeSchema } from './fault-progress.ts'

const count = z.int().min(0)

const run = {
  /** The day it ended. */
  date: z.iso.date(),
  /** Of the tree it ran on, as `commitOfTree` says it. */
  commit: z.string().min(1),
  /** What anyone can type to run it again. */
  command: z.string().min(1),
}
/** A run that was stopped and resumed may have begun on other commits. */
const earlierCommits = z.array(z.string().min(1)).default([])
const seeds = z.object({ first: z.int(), last: z.int() })

const faultRuns = z.object({
  ...run,
  earlierCommits,
  seeds,
  runs: count,
  /** Runs in which a rule was broken, or which did not come to their end. */
  violations: count,
  cpuSeconds: z.number().min(0),
  /** `kind phase` to how often it struck a node in that phase. */
  faults: z.record(z.string(), count),
  /** Of two kinds of fault: how many there are, struck together at least once, and cannot. */
  pairs: z.object({ all: count, struck: count, impossible: count }),
  /** For whoever goes on with it: of what sources, which seeds, and in how many runs two kinds struck. */
  soFar: z
    .object({ sources: z.string(), done: z.array(rangeSchema), together: z.record(z.string(), count) })
    .optional(),
})

const exhaustive = z.object({
  ...run,
  earlierCommits,
  nodes: count,
  /** Places at which it can be killed, by process, in the run without trouble. */
  points: z.record(z.string(), count),
  singles: count,
  pairs: count,
  /** Of the pairs, those that were not run because they provably continue as one that was. */
  folded: count.default(0),
  violations: count,
  cpuSeconds: z.number().min(0),
})

const apiServer = z.object({
  ...run,
  seed: z.int(),
  nodes: count,
  writers: z.array(z.string()).min(1),
  /** Nodes that may be away at once, and the most that were: as the foreign watch saw it, and by the audit log. */
  limit: count,
  maximumByWatch: count,
  maximumByAudit: count,
  outageSeconds: z.number().min(0),
  seconds: z.number().min(0),
  requests: count,
})

const preview = z.object({
  ...run,
  earlierCommits,
  seeds,
  /** All of them, those on the real API server included. */
  clusters: count,
  realClusters: count,
  blocks: count,
  calledCertain: count,
  unpredicted: count,
  certainCalls: count,
  certainThatDidNotHappen: count,
  possibleCalls: count,
  possibleThatHappened: count,
  otherWaves: count,
  placesCalledCertain: count,
  otherOrder: count,
})

const why = z.object({
  ...run,
  situations: count,
  questions: count,
  /** Codes with which something can wait, and those of them that were the answer at least once. */
  codes: count,
  codesAsked: count,
})

/** One client, one request after the other, each on a connection of its own. */
const requests = z.object({
  ...run,
  controlPlanes: count,
  workers: count,
  replicas: count,
  requests: count,
  failed: count,
  seconds: z.number().min(0),
})

const bench = z.object({
  ...run,
  cores: count,
  figures: z.array(
    z.object({ what: z.string(), measured: z.number(), unit: z.string(), wanted: z.string(), met: z.boolean() }),
  ),
})

const largePlan = z.object({
  ...run,
  nodes: count,
  pods: count,
  rehearsals: count,
  /** Nodes that were rehearsed; the others are as these. */
  rehearsed: count,
  seconds: z.number().min(0),
  mostMiB: z.number().min(0),
  verdict: z.string(),
  waves: z.array(z.object({ title: z.string(), nodes: count })),
  predictedSeconds: z.object({ least: z.number(), expected: z.number(), most: z.number() }),
})

/** By the name of the file. */
export const resultSchemas = {
  'fault-runs': faultRuns,
  exhaustive,
  preview,
  why,
  'api-server': apiServer,
  requests,
  'requests-ha': requests,
  bench,
  'large-plan': largePlan,
} as const

export type ResultName = keyof typeof resultSchemas
export type Result<Name extends ResultName> = z.output<(typeof resultSchemas)[Name]>
export type WrittenResult<Name extends ResultName> = z.input<(typeof resultSchemas)[Name]>

/** Undefined: not run yet. */
export type Results = { readonly [Name in ResultName]: Result<Name> | undefined }

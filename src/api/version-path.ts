// The Kubernetes versions an update goes through, as they were resolved before anything began.

import { z } from 'zod'

/** Who said that a version is there, in the order in which they are asked. */
export const versionSources = ['Bundle', 'Hosts', 'Registry', 'ConfigMap'] as const

export const maxSteps = 16

const version = z.string().max(64)
const step = z
  .int()
  .min(0)
  .max(maxSteps - 1)

export const versionPathSchema = z
  .strictObject({
    current: version.describe('the oldest that any of its nodes ran'),
    target: version,
    steps: z
      .array(version)
      .min(1)
      .max(maxSteps)
      .optional()
      .describe('what it goes through, one minor version at a time; the last is the target'),
    step: step.optional().describe('the one it is at, from 0'),
    workers: z
      .array(step)
      .max(maxSteps)
      .optional()
      .describe('the steps that take the workers, too; in the others only the control plane moves'),
    source: z
      .enum(versionSources)
      .optional()
      .describe('who said that the target is there; absent: it was named exactly, and no list was needed'),
  })
  .describe('resolved once, before anything begins')

export type VersionSource = (typeof versionSources)[number]
export type VersionPath = z.infer<typeof versionPathSchema>

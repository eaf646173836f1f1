// What an update is expected to do, written before its first node is touched. Bounded: counts, ten names, twenty obstacles.

import { z } from 'zod'
import { reasonSchema } from './reason.ts'
import { durationText } from './scalars.ts'

export const previewLimits = { names: 10, blockers: 20 } as const

export const previewSchema = z
  .strictObject({
    waves: z
      .array(
        z.strictObject({
          nodes: z.int(),
          first: z.array(z.string().max(253)).max(previewLimits.names),
        }),
      )
      .max(33)
      .describe('the control plane, where it is part of it, then the waves of workers'),
    duration: durationText.optional().describe('by measured step times, else by assumed ones; without obstacles'),
    blockers: z
      .array(z.strictObject({ node: z.string().max(253).optional(), reason: reasonSchema }))
      .max(previewLimits.blockers),
  })
  .describe('from the planner alone; slipway plan rehearses the update on the whole cluster')

export type Preview = z.infer<typeof previewSchema>

// What a person says to an update while it runs: stop, go on, try again, leave that one out, yes. None of it is another update.

import { z } from 'zod'
import { durationText, instantText, objectName } from './scalars.ts'

export const desiredStates = ['Running', 'Paused', 'Cancelled'] as const
export const cancelChoices = ['Finish', 'PutBack'] as const

export const retrySchema = z.strictObject({
  token: z.string().min(1).max(64).describe('another one than before = try again'),
  nodes: z.array(objectName).min(1).max(100).optional().describe('absent = every node that failed or needs a person'),
})

export const approvalSchema = z.strictObject({
  operationID: z
    .string()
    .min(1)
    .max(320)
    .describe(
      'status.operationID: an approval is for this run only; on a path of several versions with .1, .2 … for the step',
    ),
  wave: z.int().min(0).max(15).describe('status.wave.index: this wave is good, the next may begin'),
  by: z.string().min(1).max(253),
  at: instantText,
})

export const runNowSchema = z.strictObject({
  operationID: z
    .string()
    .min(1)
    .max(320)
    .describe('status.operationID: it is for this run only, and for all steps of its path'),
  reason: z.string().min(1).max(256),
  by: z.string().min(1).max(253),
  at: instantText,
})

export const steeringFields = {
  desiredState: z
    .enum(desiredStates)
    .optional()
    .describe('Paused: nothing new starts, what is under work is finished. Cancelled: for good. Default Running'),
  onCancel: z
    .enum(cancelChoices)
    .optional()
    .describe(
      'nodes that only drain are put back either way. Finish: those with an order finish it. PutBack: theirs is withdrawn where all it did can be undone. Default Finish',
    ),
  retry: retrySchema.optional(),
  approvals: z.array(approvalSchema).max(32).optional(),
  runNow: runNowSchema
    .optional()
    .describe('go on outside of windows and in spite of freezes, with who wanted it and why'),
  skip: z.array(objectName).max(100).optional().describe('nodes that are left out; one under work is finished first'),
}

/** A change of these alone never makes a finished update start anew. */
export const steering = Object.keys(steeringFields) as readonly (keyof typeof steeringFields)[]

export const operationTimeout = durationText
  .optional()
  .describe(
    'how long the whole update may take; time in which it was paused, soaked or waited for a person is not counted',
  )

/** Kept in the status: what a restarted operator must know of what was said. */
export const steeringStatusFields = {
  observedSpec: z.string().max(32).optional().describe('fingerprint of the spec without what only steers it'),
  retried: z.string().max(64).optional().describe('the last spec.retry.token that was followed'),
  runNow: runNowSchema.optional().describe('who let it go on outside of windows, and why'),
  timer: z
    .strictObject({
      usedSeconds: z.int().min(0),
      runningSince: instantText.optional().describe('absent while the clock stands still'),
    })
    .optional()
    .describe('what was used of spec.operationTimeout'),
}

export type RunNow = z.infer<typeof runNowSchema>
export type Retry = z.infer<typeof retrySchema>
export type Approval = z.infer<typeof approvalSchema>
export type Timer = NonNullable<z.infer<NonNullable<typeof steeringStatusFields.timer>>>

// Hooks: what is run or told before and after an update, a wave and a node. Each has a record, written before its effect:
// so a clean-up that is owed is never forgotten, and a restart runs nothing twice.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { reasonSchema } from './reason.ts'
import { durationText, instantText, objectName, shapedText, webAddress } from './scalars.ts'

export const hookPoints = ['BeforeUpdate', 'AfterUpdate', 'BeforeWave', 'AfterWave', 'BeforeNode', 'AfterNode'] as const
export const maxHooks = 16

const hookName = shapedText(63, '[a-z0-9]([-a-z0-9]*[a-z0-9])?', 'must be a short name such as set-noout')

const jobAction = z.strictObject({
  cronJob: objectName.describe(
    'a CronJob in the operator’s namespace (suspended, say); its template is run as a Job of its own, with SLIPWAY_NODE, SLIPWAY_UPDATE, SLIPWAY_OPERATION and SLIPWAY_WAVE in its environment',
  ),
})
const httpAction = z.strictObject({
  url: webAddress.describe('gets a POST with JSON and the header Idempotency-Key: the same key is the same call'),
})

const oneAction = 'names exactly one of job and http'
const actionRule = celRules({ rule: 'has(self.job) != has(self.http)', message: oneAction })
const isOneAction = ({ job, http }: { readonly job?: unknown; readonly http?: unknown }) =>
  (job === undefined) !== (http === undefined)

export const hookActionSchema = z
  .strictObject({ job: jobAction.optional(), http: httpAction.optional() })
  .refine(isOneAction, oneAction)
  .meta(actionRule)

export const hookSchema = z
  .strictObject({
    name: hookName.describe('each hook has its own'),
    when: z.enum(hookPoints),
    job: jobAction.optional(),
    http: httpAction.optional(),
    timeout: durationText.optional().describe('after this it has failed. Default 5m'),
    onFailure: z
      .enum(['Stop', 'Continue'])
      .optional()
      .describe('Stop: the node fails, or the update waits for a person. Default Stop'),
    cleanup: hookActionSchema
      .optional()
      .describe('runs once when the node, wave or update is over, however it ended; also when it was deleted'),
  })
  .refine(isOneAction, oneAction)
  .meta(actionRule)

const namedOnce = 'has a hook name twice: each hook has its own'

export const hooksSchema = z
  .array(hookSchema)
  .max(maxHooks)
  .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, namedOnce)
  .meta(celRules({ rule: 'self.all(a, self.exists_one(b, b.name == a.name))', message: namedOnce }))

/** What became of one run of a hook. What it does is copied when it starts: edits do not change what is owed. */
export const hookRunSchema = z.strictObject({
  hook: z.string().max(63),
  job: jobAction.optional(),
  http: httpAction.optional(),
  timeout: durationText,
  when: z.enum(hookPoints),
  operationID: z.string().min(1).max(320),
  wave: z.int().min(0).optional(),
  state: z
    .enum(['Running', 'Succeeded', 'Failed', 'Ignored'])
    .describe('Ignored: it failed, and the hook says Continue'),
  since: instantText.describe('tells this run from another one of the same hook'),
  reason: reasonSchema.optional(),
  retried: z.string().max(64).optional().describe('the spec.retry.token of the update when it failed'),
  cleanup: z
    .strictObject({
      job: jobAction.optional(),
      http: httpAction.optional(),
      timeout: durationText,
      state: z.enum(['Owed', 'Running', 'Succeeded', 'Failed']),
      since: instantText.optional(),
      reason: reasonSchema.optional(),
    })
    .optional(),
})

/** Of one operation and what an earlier one may still owe. */
export const hookRunsSchema = z.array(hookRunSchema).max(2 * maxHooks)

export type Hook = z.infer<typeof hookSchema>
export type HookAction = z.infer<typeof hookActionSchema>
export type HookPoint = (typeof hookPoints)[number]
export type HookRun = z.infer<typeof hookRunSchema>

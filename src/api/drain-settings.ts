// How a node is emptied: defaults in the MaintenancePolicy, and each update's own on top.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { durationText, labelSelector, shapedText } from './scalars.ts'

/** More would make the rules on their selectors too dear for the API server. */
const maxDrainRules = 8

const uselessTimeout = 'timeout belongs to the actions WaitForCompletion and Force: take it out'
const uselessGrace = 'gracePeriod is of no use where pods are skipped: take it out'

const namespaceName = shapedText(
  63,
  '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
  'must be the name of a namespace: lower-case letters, digits and -, such as shop',
)

const drainRuleSchema = z
  .strictObject({
    selector: labelSelector.optional().describe('labels of pods; absent = every pod'),
    namespaces: z.array(namespaceName).min(1).max(32).optional().describe('absent = every namespace'),
    action: z
      .enum(['Skip', 'WaitForCompletion', 'Evict', 'Force'])
      .describe(
        'Skip: stays on the node; WaitForCompletion: evicted only when the timeout is over; Evict: even if unmanaged or with an emptyDir; Force: as Evict, and deleted in spite of its budget when the timeout is over',
      ),
    timeout: durationText
      .optional()
      .describe('from the start of the drain. WaitForCompletion: default none; Force: default 5m'),
    gracePeriod: durationText.optional().describe('instead of podGracePeriod'),
  })
  .refine(
    ({ action, timeout }) => timeout === undefined || action === 'WaitForCompletion' || action === 'Force',
    uselessTimeout,
  )
  .refine(({ action, gracePeriod }) => gracePeriod === undefined || action !== 'Skip', uselessGrace)
  .meta(
    celRules(
      { rule: "!has(self.timeout) || self.action in ['WaitForCompletion', 'Force']", message: uselessTimeout },
      { rule: "!has(self.gracePeriod) || self.action != 'Skip'", message: uselessGrace },
    ),
  )

export const drainSettingsSchema = z.strictObject({
  timeout: durationText.optional().describe('after this onTimeout says what happens. Default 30m'),
  onTimeout: z
    .enum(['Hold', 'Abort', 'Force'])
    .optional()
    .describe(
      'Hold: tell a person and go on trying; Abort: put the node back, it counts as failed; Force: delete what is left in spite of budgets. Default Hold',
    ),
  podGracePeriod: durationText.optional().describe('overrides the pods’ own; absent = as each pod says'),
  unmanagedPods: z.enum(['Block', 'Delete']).optional().describe('pods nothing would make again. Default Block'),
  emptyDir: z.enum(['Delete', 'Block']).optional().describe('pods that keep data in an emptyDir. Default Delete'),
  volumeTimeout: durationText
    .optional()
    .describe(
      'how long volumes may take to be detached after the pods have left, before a person is told. Default 10m',
    ),
  rules: z
    .array(drainRuleSchema)
    .max(maxDrainRules)
    .optional()
    .describe('what to do with certain pods: the first that matches counts; an update’s own come before the policy’s'),
})

export type DrainSettings = z.infer<typeof drainSettingsSchema>

// Who is told what happens: receivers in the policy, and in its status what each of them has been told.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { keyReference } from './key-reference.ts'
import { reasonSchema } from './reason.ts'
import { instantText, shapedText, webAddress } from './scalars.ts'

export const newsKinds = [
  'Started',
  'Finished',
  'Failed',
  'NeedsAttention',
  'ApprovalWanted',
  'NodeFailed',
  'BackupFailed',
  'ScheduleMissed',
] as const

export const maxReceivers = 8
export const maxTold = 64

/** Of one attempt to tell a receiver something. */
export const notificationOutcomes = ['Sent', 'Retried', 'GivenUp'] as const

const receiverName = shapedText(63, '[a-z0-9]([-a-z0-9]*[a-z0-9])?', 'must be a short name such as on-call')
const oneAddress = 'names exactly one of url and urlSecret'
const namedOnce = 'has a receiver name twice: each receiver has its own'

const webhookSchema = z
  .strictObject({
    url: webAddress.optional(),
    urlSecret: keyReference
      .optional()
      .describe(
        'the address as a key of a Secret in the operator’s namespace, for addresses that are secrets themselves',
      ),
    format: z
      .enum(['Json', 'Slack'])
      .optional()
      .describe('Slack: a body with text, as Slack, Mattermost and the like take it. Default Json'),
    signingSecret: keyReference
      .optional()
      .describe('a key of a Secret; each message is signed with it by HMAC-SHA256, in the header Slipway-Signature'),
    ca: keyReference
      .optional()
      .describe('a key of a ConfigMap in the operator’s namespace: the certificate authority, PEM'),
  })
  .refine(({ url, urlSecret }) => (url === undefined) !== (urlSecret === undefined), oneAddress)
  .meta(celRules({ rule: 'has(self.url) != has(self.urlSecret)', message: oneAddress }))

export const receiverSchema = z.strictObject({
  name: receiverName,
  webhook: webhookSchema,
  on: z.array(z.enum(newsKinds)).min(1).max(newsKinds.length).optional().describe('Default: all of them'),
})

export const receiversSchema = z
  .array(receiverSchema)
  .max(maxReceivers)
  .refine((receivers) => new Set(receivers.map(({ name }) => name)).size === receivers.length, namedOnce)
  .meta(celRules({ rule: 'self.all(a, self.exists_one(b, b.name == a.name))', message: namedOnce }))

export const receiverRecordsSchema = z
  .array(
    z.strictObject({
      receiver: z.string().max(63),
      since: instantText.describe('what happened before is not told'),
      told: z.array(z.string().max(400)).max(maxTold).describe('what it was told of late, or could not be'),
      lastSuccess: instantText.optional(),
      lastFailure: z.strictObject({ at: instantText, reason: reasonSchema }).optional(),
    }),
  )
  .max(maxReceivers)

export type NewsKind = (typeof newsKinds)[number]
export type Receiver = z.infer<typeof receiverSchema>
export type ReceiverRecord = z.infer<typeof receiverRecordsSchema>[number]
export type NotificationOutcome = (typeof notificationOutcomes)[number]

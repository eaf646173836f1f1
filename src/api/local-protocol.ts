// What is said over the agent's local socket: a line of JSON for each request, one or more for its answer.

import { z } from 'zod'
import { agentStatusSchema, rolloutSchema } from './node-state.ts'
import { reasonSchema } from './reason.ts'

export const localSocketPath = '/run/slipway/agent.sock'

const wishedLog = {
  order: z.string().min(1).max(320).optional(),
  step: z.string().min(1).max(64).optional(),
}

export const localRequestSchema = z.discriminatedUnion('ask', [
  z.strictObject({ ask: z.literal('state') }),
  z.strictObject({ ask: z.literal('steps') }),
  z.strictObject({
    ask: z.literal('logs'),
    ...wishedLog,
    follow: z.boolean().optional().describe('go on with what is written later, until the caller hangs up'),
    bytes: z.int().min(1).max(8_388_608).optional().describe('how much of the end. Default 64 KiB'),
  }),
  z.strictObject({
    ask: z.literal('request'),
    wait: z.boolean().optional().describe('answer again when the node is empty and the work may begin'),
  }),
  z.strictObject({
    ask: z.literal('finish'),
    failed: z.string().min(1).max(2048).optional().describe('what went wrong: the node then stays cordoned'),
  }),
])

export const localStateSchema = z.strictObject({
  node: z.string(),
  status: agentStatusSchema.partial().describe('what the agent has told, or will when the API is back'),
  rollout: rolloutSchema.optional().describe('where the operator stands with this node, as last seen'),
})

export const localStepsSchema = agentStatusSchema.pick({ order: true })

export const localLogSchema = z.strictObject({ order: z.string(), text: z.string() })

export const localMaintenanceSchema = z.strictObject({
  state: z
    .enum(['Requested', 'InProgress', 'Finished', 'Cancelled', 'Failed'])
    .describe('Cancelled: finished before it was let in'),
  required: z.string(),
  inProgress: z.string(),
  failure: reasonSchema.optional(),
})

export const localErrorCodes = ['Usage', 'NotFound', 'Refused', 'Internal'] as const

export const localAnswerSchema = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    result: z.unknown(),
    more: z.boolean().optional().describe('another answer to the same request follows'),
  }),
  z.strictObject({
    ok: z.literal(false),
    error: z.strictObject({
      code: z.enum(localErrorCodes),
      message: z.string(),
      nextStep: z.string().optional(),
    }),
  }),
])

export type LocalRequest = z.infer<typeof localRequestSchema>
export type LocalAnswer = z.infer<typeof localAnswerSchema>
export type LocalState = z.infer<typeof localStateSchema>
export type LocalMaintenance = z.infer<typeof localMaintenanceSchema>

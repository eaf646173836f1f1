import { z } from 'zod'
import { agentOrderSchema, orderSchema } from '../../src/api/node-state.ts'

export const stateDir = '/var/lib/slipway'

/** What one life of an agent is told. */
export const lifePlanSchema = z.strictObject({
  caseFile: z.string(),
  initPid: z.int(),
  order: orderSchema,
  /** After all of its work the order fails, so that it is taken back. */
  failAtEnd: z.boolean(),
  /** Where earlier lives died; absent = nobody dies. */
  deaths: z.array(z.string()).optional(),
  /** How long after its start a step is cut off in the middle. */
  midwayMs: z.number(),
})

export const lifeEventSchema = z.union([
  z.strictObject({ died: z.string() }),
  z.strictObject({ ended: agentOrderSchema }),
])

export type LifePlan = z.infer<typeof lifePlanSchema>
export type LifeEvent = z.infer<typeof lifeEventSchema>

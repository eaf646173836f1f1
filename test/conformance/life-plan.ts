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
  /** By the name of a step, how long after its start it is cut off in the middle; at the latest before it is on record as done. */
  midwayMs: z.record(z.string(), z.number()),
  /** The machine is to lose its power in this order: its end is not put on record, only told. */
  holdsEnd: z.boolean(),
})

export const lifeEventSchema = z.union([
  z.strictObject({ died: z.string() }),
  z.strictObject({ ending: z.string() }),
  z.strictObject({ ended: agentOrderSchema }),
])

export type LifePlan = z.infer<typeof lifePlanSchema>
export type LifeEvent = z.infer<typeof lifeEventSchema>

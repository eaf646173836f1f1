// What the page may send, checked at the door. Apart from console.ts, so that the page carries no schema library.

import { z } from 'zod'
import { type ActionRequest, consoleActions, namedAtMost, type PlanRequest } from './console.ts'
import { objectName } from './scalars.ts'

const manifest = z.string().min(1).max(200_000)

export const actionRequestSchema = z.strictObject({
  action: z.enum(consoleActions),
  update: objectName.optional(),
  profile: objectName.optional(),
  nodes: z.array(objectName).max(namedAtMost).optional(),
  reason: z.string().max(256).optional(),
  manifest: manifest.optional(),
}) satisfies z.ZodType<ActionRequest>

export const planRequestSchema = z
  .strictObject({ manifest: manifest.optional(), update: objectName.optional() })
  .refine(
    (wish) => (wish.manifest === undefined) !== (wish.update === undefined),
    'names exactly one of manifest and update',
  ) satisfies z.ZodType<PlanRequest>

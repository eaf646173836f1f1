// A person keeps a node for themselves: by this annotation on the Node, whoever writes it.

import { z } from 'zod'

export const holdAnnotation = 'slipway.dev/hold'

export const holdSchema = z.object({
  by: z.string().max(256).optional(),
  why: z.string().max(1024).optional(),
  at: z.string().max(40).optional(),
})

export type Hold = z.infer<typeof holdSchema>

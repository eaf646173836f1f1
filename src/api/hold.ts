// A person keeps a node for themselves: by this annotation on the Node, whoever writes it.

import { z } from 'zod'

export const holdAnnotation = 'slipway.dev/hold'

/** A node that failed while it stayed at work is fit, says a person; the value is the order that failed. */
export const releasedAnnotation = 'slipway.dev/released'

export const holdSchema = z.object({
  by: z.string().max(256).optional(),
  why: z.string().max(1024).optional(),
  at: z.string().max(40).optional(),
})

export type Hold = z.infer<typeof holdSchema>

import { z } from 'zod'

export const mostFreeGiB = 10

/** What a host says of itself for preflight. Figures that change all the time are cut, so that they are seldom written. */
export const preflightFacts = {
  freeGiB: z.int().min(0).max(mostFreeGiB).optional().describe('free under /var, rounded down; 10 = ten or more'),
  cgroup: z.enum(['v1', 'v2']).optional(),
  kubeletFlags: z
    .array(z.string().max(64))
    .max(32)
    .optional()
    .describe('flags in a person’s files that some version of the kubelet no longer knows; absent = not told'),
  kubeletServer: z
    .strictObject({ url: z.string().max(512), own: z.boolean() })
    .optional()
    .describe('control plane: the API server the kubelet talks to, and whether it is the node’s own'),
}

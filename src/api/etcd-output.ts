// What etcdctl prints, as far as it is read, and what the etcd driver remembers of one order.

import { z } from 'zod'

/** `etcdctl member list -w json`; a member that never started has no client addresses. */
export const memberListSchema = z.object({
  members: z.array(z.object({ name: z.string().optional(), clientURLs: z.array(z.string()).optional() })),
})

/** `etcdctl endpoint health -w json`; printed also when it ends with 1. */
export const endpointHealthSchema = z.array(
  z.object({ endpoint: z.string(), health: z.boolean(), error: z.string().optional() }),
)

/** `etcdctl endpoint status -w json`. */
export const endpointStatusSchema = z.array(
  z.object({ Endpoint: z.string(), Status: z.object({ version: z.string() }) }),
)

/** This host's member and how to ask it and the others; written while it was staged. */
export const etcdMemberSchema = z.strictObject({
  own: z.string(),
  others: z.array(z.string()).max(64),
  /** etcdctl's options for the certificates. */
  options: z.array(z.string()).max(8),
})

export type EtcdMember = z.infer<typeof etcdMemberSchema>

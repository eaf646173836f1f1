// The members of etcd besides this host's own, as an order found them while all was well: its own member may be down when they
// are asked again.

import { z } from 'zod'

const path = z.string().max(4096)

export const etcdPeersSchema = z.strictObject({
  access: z.strictObject({
    own: z.string().max(512).optional(),
    endpoints: z.array(z.string().max(512)).max(64),
    ca: path.optional(),
    certificate: path.optional(),
    key: path.optional(),
  }),
  others: z
    .array(
      z.strictObject({
        ID: z.string().max(20),
        name: z.string().max(253),
        clientURLs: z.array(z.string().max(512)).max(16),
        isLearner: z.boolean(),
      }),
    )
    .max(64),
})

export type EtcdPeers = z.infer<typeof etcdPeersSchema>

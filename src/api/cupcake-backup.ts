// How CUPCAKE asks for backups of etcd and is answered: by two ConfigMaps.

import { z } from 'zod'
import { cupcakeGroup } from './cupcake.ts'

export const cupcakeBackupSelector = `${cupcakeGroup}/backup=true`

/** The data of a request; whatever else stands there is not needed. */
export const cupcakeBackupRequestSchema = z.object({
  operation_id: z.string().min(1),
  node_name: z.string().min(1),
  snapshot_name: z.string().default(''),
})

export type CupcakeBackupRequest = z.infer<typeof cupcakeBackupRequestSchema>

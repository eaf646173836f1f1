// What must stay secret on its way to one host.

import { z } from 'zod'
import { objectName } from './scalars.ts'

export const sealedTextSchema = z.strictObject({
  secret: objectName,
  key: z.string().max(253),
  version: z.string().max(128).describe('of the Secret it was read from: uid and resourceVersion'),
  recipient: z.string().max(64).describe('the public key it is sealed to'),
  text: z.string().max(200_000),
})

export type SealedText = z.infer<typeof sealedTextSchema>

import { z } from 'zod'
import { priorFileSchema } from './profile-record.ts'

/** What lay where stamps were made, so that they can be taken back. */
export const stampNotesSchema = z.strictObject({
  files: z.array(z.strictObject({ path: z.string(), prior: priorFileSchema })),
})

export type StampNotes = z.infer<typeof stampNotesSchema>

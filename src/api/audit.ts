// One line of the audit record: what happened to what, and who asked for it as far as that is on record.

import { z } from 'zod'
import { instantText } from './scalars.ts'

export const auditActions = [
  'Asked',
  'Edited',
  'Deleted',
  'Planned',
  'Refused',
  'Phase',
  'Approved',
  'RunNow',
  'Paused',
  'Resumed',
  'Cancelled',
  'Retried',
  'PolicyChanged',
  'NodePhase',
  'Order',
  'PodForced',
  'Backup',
  'Leading',
] as const

/**
 * Where the name of a person comes from. `approval`, `runNow` and `annotation` stand in the object, and the admission policies
 * that are installed with the operator let nobody write another's name there. `fieldManager` names the program that wrote last, not the person. `operator` and `agent`: their own doing.
 */
export const auditSources = ['approval', 'runNow', 'annotation', 'fieldManager', 'owner', 'operator', 'agent'] as const

export const auditRecordSchema = z.strictObject({
  audit: z.literal(true),
  time: instantText,
  action: z.enum(auditActions),
  kind: z.string(),
  name: z.string(),
  uid: z.string().optional(),
  operation: z.string().optional(),
  update: z.string().optional(),
  node: z.string().optional(),
  by: z.string().optional(),
  bySource: z.enum(auditSources).optional(),
  code: z.string().optional(),
  message: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
})

/** Set by commands and the console on what they make: who asked, as the API server took them for. */
export const askedByAnnotation = 'slipway.dev/asked-by'

export type AuditAction = (typeof auditActions)[number]
export type AuditSource = (typeof auditSources)[number]
export type AuditRecord = z.infer<typeof auditRecordSchema>

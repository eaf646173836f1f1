import type { AuditAction } from '../../api/audit.ts'
import { directUpdates } from '../../api/direct-update.ts'
import type { AuditLine } from '../../core/audit/audit-update.ts'
import type { RecordedEvent } from '../../kube/event-recorder.ts'

/** What people said, where no Event tells of it yet: what the operator does about it has Events from where that is done. */
const words: ReadonlySet<AuditAction> = new Set<AuditAction>([
  ...(['Asked', 'Edited', 'Deleted', 'Approved', 'Resumed', 'Retried', 'PolicyChanged'] as const),
])

/** For whoever looks at the object: what a person said to it, and who, as far as that is on record. */
export function auditEvent({ action, kind, name, uid, by, bySource, message }: AuditLine): RecordedEvent | undefined {
  if (!words.has(action)) return undefined
  const who = by === undefined ? 'by unknown' : `by ${by}${bySource === 'fieldManager' ? ' (a program)' : ''}`
  return {
    regarding: { apiVersion: directUpdates.apiVersion, kind, name, ...(uid !== undefined && { uid }) },
    ...{ type: 'Normal', reason: action, action: 'Say' },
    note: [who, message].filter(Boolean).join(': ').slice(0, 1000),
  }
}

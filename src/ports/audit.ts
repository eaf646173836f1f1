import type { AuditRecord } from '../api/audit.ts'

/** Keeps what happened, line by line; it never fails whoever tells. */
export interface Audit {
  record(entry: AuditRecord): void
}

// What the audit record says of the policy: that its rules were changed, and each backup that belongs to no update.

import { type MaintenancePolicy, maintenancePolicies } from '../../api/maintenance-policy.ts'
import { equalJson } from '../merge-patch.ts'
import { lastWriter } from './asked-by.ts'
import type { AuditLine } from './audit-update.ts'

export function auditPolicy(before: MaintenancePolicy, after: MaintenancePolicy): readonly AuditLine[] {
  const { name, uid } = after.metadata
  const about = { kind: maintenancePolicies.kind, name, uid }
  const lines: AuditLine[] = []
  const changed = changedFields(before, after)
  if (changed.length > 0) {
    const message = `changed: ${changed.map((field) => `spec.${field}`).join(', ')}`
    lines.push({ ...about, action: 'PolicyChanged', ...lastWriter(after), message })
  }
  for (const { store, lastSuccess, lastFailure } of after.status?.backups ?? []) {
    const known = before.status?.backups?.find((record) => record.store === store)
    const own = { by: 'slipway-operator', bySource: 'operator' } as const
    if (lastSuccess && lastSuccess.at !== known?.lastSuccess?.at) {
      const message = `${lastSuccess.location} (SHA-256 ${lastSuccess.sha256})`
      lines.push({ ...about, action: 'Backup', ...own, node: lastSuccess.node, to: 'Succeeded', message })
    }
    if (lastFailure && lastFailure.at !== known?.lastFailure?.at) {
      const { code, message } = lastFailure.reason
      lines.push({ ...about, action: 'Backup', ...own, to: 'Failed', code, message: `store ${store}: ${message}` })
    }
  }
  return lines
}

function changedFields({ spec: before }: MaintenancePolicy, { spec: after }: MaintenancePolicy): readonly string[] {
  if (before === after) return []
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof before>
  return [...fields].filter((field) => !equalJson(before[field], after[field])).sort()
}

// Writes the audit record from what the stores of one term tell. What happened while nobody led is told by how it is found.

import { auditNode } from '../../core/audit/audit-node.ts'
import { auditPolicy } from '../../core/audit/audit-policy.ts'
import { type AuditLine, auditDeletion, auditUpdate } from '../../core/audit/audit-update.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Audit } from '../../ports/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { auditEvent } from './audit-event.ts'

export interface AuditOptions {
  readonly cluster: Cluster
  readonly audit: Audit
  readonly events: EventRecorder
  readonly clock: Clock
  readonly metrics: Metrics | undefined
  readonly epoch: number
  readonly identity: string
}

export function followAudit({ cluster, audit, events, clock, metrics, epoch, identity }: AuditOptions): void {
  const write = (lines: readonly AuditLine[]) => {
    for (const line of lines) {
      audit.record({ audit: true, time: clock.now().toISOString(), ...line })
      metrics?.add('slipway_audit_records_total', {})
      const event = auditEvent(line)
      if (event) events.record(event)
    }
  }
  const term = { kind: 'Lease', name: identity, bySource: 'operator', message: `epoch ${epoch}` } as const
  write([{ action: 'Leading', by: identity, ...term }])
  // Nobody has planned these: whoever led before has not seen them.
  for (const update of cluster.updates.values()) if (!update.status?.phase) write(auditUpdate(undefined, update))
  cluster.updates.subscribe((change) => {
    if (change.type === 'added') write(auditUpdate(undefined, change.object))
    else if (change.type === 'changed') write(auditUpdate(change.before, change.object))
    else if (change.object.metadata.deletionTimestamp === undefined) write([auditDeletion(change.object)])
  })
  cluster.states.subscribe((change) => {
    if (change.type === 'changed') write(auditNode(change.before, change.object))
    else if (change.type === 'added') write(auditNode(undefined, change.object))
  })
  cluster.policies.subscribe((change) => {
    if (change.type === 'changed') write(auditPolicy(change.before, change.object))
  })
}

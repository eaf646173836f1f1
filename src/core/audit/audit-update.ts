// What the audit record says of a DirectUpdate: who asked, what people said to it, and what became of it.

import type { AuditRecord } from '../../api/audit.ts'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { specMark } from '../update/operation.ts'
import { type Author, askedBy, lastWriter } from './asked-by.ts'

/** A line without the time it is written at. */
export type AuditLine = Omit<AuditRecord, 'audit' | 'time'>

type Said = Pick<AuditLine, 'action'> & Partial<AuditLine>

const words = { Running: 'Resumed', Paused: 'Paused', Cancelled: 'Cancelled' } as const

/** `before` undefined: nobody has written about it yet. */
export function auditUpdate(before: DirectUpdate | undefined, after: DirectUpdate): readonly AuditLine[] {
  const told = [...(before ? steered(before, after) : [asked(after)]), ...outcomes(before, after)]
  return told.map((line) => ({ ...about(after), ...line }))
}

export function auditDeletion(update: DirectUpdate): AuditLine {
  return { ...about(update), action: 'Deleted', ...(update.status?.phase && { from: update.status.phase }) }
}

function about({ metadata, status }: DirectUpdate): Omit<AuditLine, 'action'> {
  const { name, uid } = metadata
  const operation = status?.operationID
  return { kind: directUpdates.kind, name, uid, update: name, ...(operation !== undefined && { operation }) }
}

function asked(update: DirectUpdate): Said {
  return { action: 'Asked', ...askedBy(update), message: workText(update) }
}

/** What a person said to it, each word once. */
function steered(before: DirectUpdate, after: DirectUpdate): readonly Said[] {
  const writer: Author = lastWriter(after)
  const lines: Said[] = []
  if (specMark(before.spec) !== specMark(after.spec)) {
    lines.push({ action: 'Edited', ...writer, message: workText(after) })
  }
  const { desiredState = 'Running' } = after.spec
  if (desiredState !== (before.spec.desiredState ?? 'Running')) lines.push({ action: words[desiredState], ...writer })
  const retry = after.spec.retry
  if (retry && retry.token !== before.spec.retry?.token) {
    lines.push({ action: 'Retried', ...writer, message: retry.nodes?.join(', ') ?? 'every node that failed' })
  }
  if (before.metadata.deletionTimestamp === undefined && after.metadata.deletionTimestamp !== undefined) {
    lines.push({ action: 'Deleted', message: 'its nodes are put back first' })
  }
  return lines
}

function outcomes(before: DirectUpdate | undefined, after: DirectUpdate): readonly Said[] {
  const lines: Said[] = []
  const { spec, status } = after
  for (const { by, at, wave, operationID } of spec.approvals ?? []) {
    const isKnown = before?.spec.approvals?.some((old) => old.at === at && old.by === by && old.wave === wave)
    if (!isKnown)
      lines.push({ action: 'Approved', by, bySource: 'approval', operation: operationID, message: `wave ${wave + 1}` })
  }
  const { runNow } = spec
  if (runNow && runNow.at !== before?.spec.runNow?.at) {
    const { by, reason, operationID } = runNow
    lines.push({ action: 'RunNow', by, bySource: 'runNow', operation: operationID, message: reason })
  }
  const phase = status?.phase
  if (phase === undefined || (phase === before?.status?.phase && status?.operationID === before.status.operationID)) {
    return lines
  }
  const said = status?.conditions?.find(({ type }) => type === (phase === 'Failed' ? 'Failed' : 'Progressing'))
  const from = before?.status?.phase
  lines.push({
    ...{ action: 'Phase', by: 'slipway-operator', bySource: 'operator', to: phase },
    ...(from && { from }),
    ...(said && { code: said.reason, message: said.message }),
  })
  return lines
}

function workText({ spec }: DirectUpdate): string {
  const { kubernetes, os, profile, script, binary, reboot } = spec
  const parts = [
    kubernetes && `Kubernetes ${kubernetes.version}`,
    os && `operating system${os.image === undefined ? '' : ` ${os.image}`}`,
    profile !== undefined && `profile ${profile}`,
    script && `script ${script.configMap} (SHA-256 ${script.sha256.slice(0, 12)}…)`,
    binary && 'binary',
    reboot !== undefined && `reboot ${reboot}`,
  ]
  return parts.filter(Boolean).join(', ')
}

// Requests for a backup as CUPCAKE makes them, turned into ours: a request of a person on the policy, whose end is the answer.

import { backupAnnotation, backupDemandSchema } from '../../api/backup-plan.ts'
import { type CupcakeBackupRequest, cupcakeBackupRequestSchema } from '../../api/cupcake-backup.ts'
import type { DirectUpdateStatus } from '../../api/direct-update.ts'
import type { ConfigMap } from '../../api/kube.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'

export interface BackupReply {
  readonly name: string
  readonly data: Readonly<Record<string, string>>
}

export type BackupAction =
  | { readonly action: 'wait' }
  /** Write this on the policy. */
  | { readonly action: 'ask'; readonly annotation: string }
  | { readonly action: 'answer'; readonly reply: BackupReply }

/** Undefined where it is none: answers carry no label, but nobody keeps others from setting it. */
export function readBackupRequest({ metadata, data }: ConfigMap): CupcakeBackupRequest | undefined {
  if (metadata.name.startsWith('backup-status-')) return undefined
  return cupcakeBackupRequestSchema.safeParse(data).data
}

export function decideBackup(
  { metadata }: ConfigMap,
  request: CupcakeBackupRequest,
  policy: MaintenancePolicy | undefined,
  now: Date,
): BackupAction {
  const { spec, status } = policy ?? {}
  if (!policy || !spec?.backupStores?.length) {
    const message = 'MaintenancePolicy default has no backupStores: name one, then ask again'
    return {
      action: 'answer',
      reply: replyTo(request, { success: false, message, location: '', at: now.toISOString() }),
    }
  }
  const token = `cupcake-${metadata.uid}`.slice(0, 64)
  const subject = `asked ${token}`
  for (const { lastSuccess, lastFailure, run } of status?.backups ?? []) {
    if (run !== undefined) continue
    if (lastSuccess?.subject === subject) {
      const { location, at } = lastSuccess
      return {
        action: 'answer',
        reply: replyTo(request, { success: true, message: 'stored and read back', location, at }),
      }
    }
    if (lastFailure?.subject === subject) {
      const { reason, at } = lastFailure
      return {
        action: 'answer',
        reply: replyTo(request, { success: false, message: reason.message, location: '', at }),
      }
    }
  }
  const written = askedOn(policy)
  const isTakenUp = (asked: string) => status?.backups?.some((record) => record.asked === asked) ?? false
  // One at a time, and nobody's wish is written over before it is taken up.
  if (written === token || (written !== undefined && !isTakenUp(written)) || isTakenUp(token)) return { action: 'wait' }
  return { action: 'ask', annotation: JSON.stringify({ request: token }) }
}

function askedOn({ metadata }: MaintenancePolicy): string | undefined {
  const text = metadata.annotations?.[backupAnnotation]
  if (text === undefined) return undefined
  try {
    return backupDemandSchema.safeParse(JSON.parse(text)).data?.request
  } catch (error) {
    // Nobody can take that up: it may be written over.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

interface BackupEnd {
  readonly success: boolean
  readonly message: string
  readonly location: string
  readonly at: string
}

export function replyTo(request: CupcakeBackupRequest, { success, message, location, at }: BackupEnd): BackupReply {
  const { operation_id, node_name, snapshot_name } = request
  return {
    name: `backup-status-${operation_id}-${node_name}`.replaceAll('.', '-').toLowerCase().slice(0, 253),
    data: {
      ...{ completed: 'true', success: String(success), message, timestamp: at },
      snapshot_name: snapshot_name || location.slice(location.lastIndexOf('/') + 1),
      ...(location !== '' && { upload_path: location }),
    },
  }
}

/** The last backup that was made for an update, in the words of its status. */
export function backupInfoOf(status: DirectUpdateStatus): { etcdSnapshot: string; timestamp: string } | undefined {
  const last = status.backups?.at(-1)
  return last && { etcdSnapshot: last.location, timestamp: last.at }
}

/** What an update's own backups answer: nobody asked by a ConfigMap, but people look for one. */
export function repliesOf({ backups = [] }: DirectUpdateStatus, operation: string): readonly BackupReply[] {
  const byNode = new Map(backups.map((backup) => [backup.node, backup]))
  return [...byNode.values()].map(({ node, location, at }) =>
    replyTo(
      { operation_id: operation, node_name: node, snapshot_name: '' },
      { success: true, message: 'stored and read back', location, at },
    ),
  )
}

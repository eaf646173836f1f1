import { describe, expect, it } from 'vitest'
import type { UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import { refusedStatus } from './update-status.ts'

const now = new Date('2026-01-05T08:01:00Z')
const backup: UpdateBackup = {
  ...{ step: 'ControlPlane', store: 'here', node: 'cp1', location: 'here/1', sha256: 'ab', bytes: 1, revision: '7' },
  ...{ verified: 'Hash', at: '2026-01-05T08:00:50.000Z' },
}
const backupRun = { subject: 'ControlPlane', try: 1, failures: [] }

function statusOf(operationID: string) {
  const update: DirectUpdate = {
    apiVersion: 'slipway.dev/v1alpha1',
    kind: 'DirectUpdate',
    metadata: {
      ...{ name: 'first', uid: 'u', resourceVersion: '1', generation: 1 },
      creationTimestamp: '2026-01-05T08:00:00Z',
    },
    spec: { reboot: 'Always' },
    status: { operationID: 'first/1', phase: 'Pending', backups: [backup], backupRun },
  }
  const reason = { code: 'PreflightFailed', message: 'pods cannot be read' } as const
  return refusedStatus(update, operationID, { verdict: 'refused', reason, lasting: false }, now)
}

describe('a status that is begun again', () => {
  it('keeps the backups of the same operation', () => {
    expect(statusOf('first/1')).toMatchObject({ backups: [backup], backupRun })
  })

  it('knows none of those of another', () => {
    const status = statusOf('first/2')
    expect(status.backups).toBeUndefined()
    expect(status.backupRun).toBeUndefined()
  })
})

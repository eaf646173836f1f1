import { describe, expect, it } from 'vitest'
import { askedByAnnotation } from '../../api/audit.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { KubeObject } from '../../api/kube.ts'
import { askedBy, personWhoAsked } from './asked-by.ts'
import { auditUpdate } from './audit-update.ts'

const kubectl = [
  { manager: 'kubectl-create', operation: 'Update', time: '2026-01-05T08:00:00Z' },
  { manager: 'kubectl-edit', operation: 'Update', time: '2026-01-05T09:00:00Z' },
  { manager: 'slipway-operator', operation: 'Update', time: '2026-01-05T10:00:00Z', subresource: 'status' },
]
const schedule = { apiVersion: 'slipway.dev/v1alpha1', kind: 'UpdateSchedule', name: 'weekly', uid: 'u' }

function update(metadata: Partial<KubeObject['metadata']>): DirectUpdate {
  const base = { name: 'up', uid: 'uid-up', resourceVersion: '1', creationTimestamp: '2026-01-05T08:00:00Z' }
  return { metadata: { ...base, ...metadata }, spec: { kubernetes: { version: 'v1.36.3' } } }
}

describe('who asked', () => {
  it.each([
    [
      'a person by command or console',
      { annotations: { [askedByAnnotation]: 'ana' }, managedFields: kubectl },
      { by: 'ana', bySource: 'annotation' },
      'ana',
    ],
    [
      'a schedule',
      { ownerReferences: [schedule] },
      { by: 'UpdateSchedule/weekly', bySource: 'owner' },
      'UpdateSchedule/weekly',
    ],
    ['somebody with kubectl', { managedFields: kubectl }, { by: 'kubectl-edit', bySource: 'fieldManager' }, undefined],
    ['nobody knows', {}, {}, undefined],
  ] as const)('%s', (_, metadata, author, person) => {
    const asked = update(metadata)
    expect(askedBy(asked)).toEqual(author)
    expect(personWhoAsked(asked)).toBe(person)
    expect(auditUpdate(undefined, asked)[0]).toEqual(expect.objectContaining({ action: 'Asked', ...author }))
  })
})

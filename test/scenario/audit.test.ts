// The whole life of an update can be told from the audit record alone.

import { describe, expect } from 'vitest'
import { type AuditRecord, askedByAnnotation, auditRecordSchema } from '../../src/api/audit.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import type { Audit } from '../../src/ports/audit.ts'
import { type StoryOptions, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'

class Kept implements Audit {
  readonly records: AuditRecord[] = []

  record(entry: AuditRecord): void {
    this.records.push(auditRecordSchema.parse(entry))
  }

  /** `Asked ana`, `Phase Failed`, `NodePhase w1 Done`. */
  of(update: string, ...actions: readonly string[]): readonly string[] {
    return this.records
      .filter((record) => record.update === update && actions.includes(record.action))
      .map(({ action, node, to, by, bySource }) =>
        [action, node, to ?? (bySource === 'operator' ? undefined : by)].filter((word) => word !== undefined).join(' '),
      )
  }
}

const audit = new Kept()
const options: StoryOptions = { nodes: oneAnd(2), audit }

describe('the audit record', () => {
  scenario('tells who asked, who approved, and what became of each node', options, async (story) => {
    const { cluster, update, person } = story
    cluster.failing.add('w2')
    const strategy = { waves: [{ size: 1, promotion: 'Manual' as const }, { size: '100%' as const }] }
    await update.keepScript('true')
    const running = update.script('true', { strategy })
    await person.annotates(directUpdates, 'update', { [askedByAnnotation]: 'ana' }).catch(() => undefined)
    await running.is('InProgress', 'ApprovalWanted')
    const { operationID = '', wave } = running.status
    await running.isEdited({
      approvals: [{ operationID, wave: wave?.index ?? 0, by: 'ben', at: '2026-01-05T09:00:00Z' }],
    })
    await running.fails()
    cluster.failing.delete('w2')
    await running.isRetried('again')
    await running.isEdited({ desiredState: 'Paused' })
    await cluster.pass(2_000)
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
    await running.isDeleted()
    await running.isGone()
    await cluster.pass(10_000)

    expect(audit.of('update', 'Asked')).toHaveLength(1)
    expect(audit.of('update', 'Approved')).toEqual(['Approved ben'])
    expect(audit.of('update', 'Retried', 'Paused', 'Resumed').map((line) => line.split(' ')[0])).toEqual([
      ...['Retried', 'Paused', 'Resumed'],
    ])
    const phases = audit.of('update', 'Phase')
    expect(phases[0]).toBe('Phase Planning')
    expect(phases).toContain('Phase Failed')
    expect(phases.at(-1)).toBe('Phase Succeeded')
    expect(audit.of('update', 'Deleted')).toHaveLength(1)
    for (const node of ['cp1', 'w1', 'w2']) {
      const life = audit.of('update', 'NodePhase').filter((line) => line.includes(` ${node} `))
      expect(life, node).toEqual(expect.arrayContaining([`NodePhase ${node} Draining`, `NodePhase ${node} Done`]))
    }
    expect(audit.of('update', 'NodePhase')).toContain('NodePhase w2 Failed')
    expect(audit.of('update', 'Order')).toEqual(
      expect.arrayContaining(['Order w1 Run', 'Order w1 Succeeded', 'Order w2 Failed']),
    )
    // What people said stands in Events, too, once; what nodes do has Events of its own.
    const told = cluster.told('DirectUpdate', 'update')
    for (const word of ['Asked', 'Approved', 'Retried', 'Paused', 'Resumed', 'Deleted']) {
      expect(
        told.filter((reason) => reason === word),
        word,
      ).toHaveLength(1)
    }
    expect(told).not.toContain('NodePhase')
    const failure = audit.records.find(
      ({ node, to, action }) => node === 'w2' && to === 'Failed' && action === 'NodePhase',
    )
    expect(failure).toMatchObject({ code: 'StepFailed', operation: operationID, bySource: 'operator' })
  })
})

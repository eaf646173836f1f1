import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditRecord } from '../../api/audit.ts'
import { auditLines } from './audit-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'slipway-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))

const entry: AuditRecord = {
  ...{ audit: true, time: '2026-03-01T12:00:00Z', action: 'Asked', kind: 'DirectUpdate', name: 'march' },
}

describe('the audit record', () => {
  it('is appended to its file, a line each, whatever a name holds', () => {
    const file = join(folder, 'audit.log')
    auditLines(file).record(entry)
    auditLines(file).record({ ...entry, by: 'ana\n{"audit":true,"action":"Approved"}' })
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['Asked', 'Asked'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('says when its file cannot be written', () => {
    expect(() => auditLines(join(folder, 'nowhere', 'audit.log'))).toThrow(/cannot be written: .*ENOENT/)
  })
})

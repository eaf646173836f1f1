import { describe, expect, it } from 'vitest'
import type { BackupStoreSpec } from '../../api/backup.ts'
import type { UpdateBackup } from '../../api/backup-plan.ts'
import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { type BackupTerms, backupNeed, backupStep, goodBackup, pointOf } from './need.ts'

const here: BackupStoreSpec = { name: 'here', path: '/var/backups' }
const far: BackupStoreSpec = { name: 'far', s3: { bucket: 'b', secret: 's' } }
const kubernetes = { version: 'v1.36.3' }
const etcd = { endpoints: ['https://10.0.0.1:2379'], secret: 'etcd' }
const script = { configMap: 'c', sha256: '0'.repeat(64) }

describe('whether an update needs a backup', () => {
  const cases: readonly [string, DirectUpdateSpec, MaintenancePolicySpec, string][] = [
    ['no store is there', { kubernetes }, {}, 'none'],
    ['a store is there', { kubernetes }, { backupStores: [here, far] }, 'here'],
    ['it names one', { kubernetes, backup: { store: 'far' } }, { backupStores: [here, far] }, 'far'],
    [
      'it names one that is not there',
      { kubernetes, backup: { store: 'x' } },
      { backupStores: [here] },
      'BackupStoreMissing',
    ],
    ['it must have one', { kubernetes, backup: { etcd: 'Required' } }, {}, 'BackupStoreMissing'],
    ['it wants none', { kubernetes, backup: { etcd: 'Never', store: 'x' } }, { backupStores: [here] }, 'none'],
    ['it runs a script', { script }, { backupStores: [here] }, 'none'],
    ['it only reboots', { reboot: 'Always' }, { backupStores: [here] }, 'none'],
    ['it runs a script and must have one', { script, backup: { etcd: 'Required' } }, { backupStores: [here] }, 'here'],
    ['it changes the operating system', { os: { packages: 'All' } }, { backupStores: [here] }, 'here'],
    ['there is no etcd', { kubernetes }, { backupStores: [here], datastore: 'Other' }, 'none'],
    [
      'there is no etcd, and it must have one',
      { kubernetes, backup: { etcd: 'Required' } },
      { backupStores: [here], datastore: 'Other' },
      'BackupHostMissing',
    ],
    ['etcd is elsewhere', { kubernetes }, { backupStores: [here], datastore: 'Other', etcd }, 'here'],
  ]

  it.each(cases)('%s', (_what, spec, policy, expected) => {
    const need = backupNeed(spec, policy)
    const found = need.need === 'wanted' ? need.terms.store.name : need.need === 'refused' ? need.reason.code : 'none'
    expect(found).toBe(expected)
  })

  it('has defaults: before the control plane, checked by its hash, an hour old at most', () => {
    const need = backupNeed({ kubernetes }, { backupStores: [here] })
    expect(need).toEqual({
      need: 'wanted',
      terms: { store: here, verify: 'Hash', maxAgeMs: 3_600_000, before: ['ControlPlane'] },
    })
  })

  it('gives a backup a minute at least', () => {
    const need = backupNeed({ kubernetes, backup: { maxAge: '1s' } }, { backupStores: [here] })
    expect(need).toMatchObject({ terms: { maxAgeMs: 60_000 } })
  })

  it('names the stores there are', () => {
    const need = backupNeed({ kubernetes, backup: { store: 'x' } }, { backupStores: [here, far] })
    expect(need).toMatchObject({ reason: { message: expect.stringContaining('(it has here, far)') } })
  })
})

describe('which backup is good', () => {
  const now = new Date('2026-01-05T10:00:00Z')
  const step = backupStep('ControlPlane', { kubernetes })
  const terms: BackupTerms = { store: here, verify: 'Hash', maxAgeMs: 3_600_000, before: ['ControlPlane'] }
  const made: UpdateBackup = {
    ...{ step, store: 'here', node: 'cp1', location: 'here/x', sha256: '0'.repeat(64), bytes: 1, revision: '7' },
    ...{ verified: 'Hash', at: '2026-01-05T09:00:00Z' },
  }

  it.each<[string, Partial<UpdateBackup>, Partial<BackupTerms>, boolean]>([
    ['made for this step an hour ago', {}, {}, true],
    ['older than that', { at: '2026-01-05T08:59:59Z' }, {}, false],
    ['made by a clock that was ahead', { at: '2026-01-05T10:20:00Z' }, {}, true],
    ['made by a clock that was far ahead', { at: '2026-01-06T10:20:00Z' }, {}, false],
    ['of another version', { step: 'ControlPlane v1.35.4' }, {}, false],
    ['of another point', { step: 'FirstWorker v1.36.3' }, {}, false],
    ['in another store', { store: 'far' }, {}, false],
    ['checked less than asked', {}, { verify: 'Restore' }, false],
    ['checked more than asked', { verified: 'Restore' }, {}, true],
  ])('%s', (_what, backup, wanted, isGood) => {
    expect(goodBackup([{ ...made, ...backup }], step, { ...terms, ...wanted }, now) !== undefined).toBe(isGood)
  })

  it('is none where none was made', () => {
    expect(goodBackup(undefined, step, terms, now)).toBeUndefined()
  })
})

describe('the point a node stands at', () => {
  it.each([
    ['ControlPlane', true, 'ControlPlane'],
    ['Worker', false, 'FirstWorker'],
    ['Worker', true, undefined],
  ] as const)('%s, workers begun: %s', (role, hasBegun, point) => {
    expect(pointOf(role, hasBegun)).toBe(point)
  })
})

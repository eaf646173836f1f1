import { expect, test } from 'vitest'
import type { BackupView, StoreView } from '../../../api/console.ts'
import { drawnUpdate } from '../drawn-views.ts'
import { backupRows, backupSentence, sizeText } from './backup-rows.ts'

const now = Date.parse('2026-11-15T01:00:00Z')
const backup = (location: string, at: string): BackupView => ({
  store: 'nightly',
  location,
  at,
  reason: 'before',
  verified: 'Hash',
})
const store = (facts: Partial<StoreView> = {}): StoreView => ({
  name: 'nightly',
  kind: 's3',
  encrypted: true,
  ...facts,
})

test('one that a store and an update tell of stands once, the newest first', () => {
  const [old, young] = [backup('a', '2026-11-14T21:00:00Z'), backup('b', '2026-11-14T22:00:00Z')]
  const rows = backupRows({ u: drawnUpdate({ name: 'u', backups: [old, young] }) }, [store({ last: young })])
  expect(rows.map(({ location, update }) => `${location} ${update}`)).toEqual(['b u', 'a u'])
})

test.each([
  ['no store', [], [], 'No store for backups is set up'],
  ['a store and nothing in it', [], [store()], 'No backup was made yet'],
  ['a good one', [backup('a', '2026-11-14T22:00:00Z')], [store()], 'The last backup is 3 h old, checked and stored'],
  [
    'a store in trouble',
    [],
    [store({ problem: { code: 'BackupFailed', message: 'full' } })],
    'Backups to nightly fail',
  ],
] as const)('%s', (_, rows, stores, sentence) => {
  expect(backupSentence(rows, stores, now)).toBe(sentence)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [432_013_312, '412 MiB'],
  [5_000_000_000_000_000, '4547 TiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})

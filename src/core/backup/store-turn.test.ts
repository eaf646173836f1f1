import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BackupStoreSpec } from '../../api/backup.ts'
import type { BackupDemand, StoreRecord } from '../../api/backup-plan.ts'
import { storeTurn } from './store-turn.ts'

const now = new Date('2026-01-05T10:30:00Z')
const store: BackupStoreSpec = { name: 'hourly', path: '/b', schedule: { cron: '0 * * * *', verify: 'Restore' } }
const next = '2026-01-05T11:00:00.000Z'
const run = { subject: 'asked r0', try: 1, failures: [] }
const begun = (subject: string) => ({ subject, try: 0, failures: [] })

describe('a store', () => {
  it.each<[string, BackupStoreSpec, Partial<StoreRecord> | undefined, BackupDemand | undefined, Partial<StoreRecord>]>([
    ['is given its first time', store, undefined, undefined, { next }],
    ['waits for its time', store, { next }, undefined, { next }],
    [
      'is due, however late, once',
      store,
      { next: '2026-01-05T07:00:00.000Z' },
      undefined,
      {
        ...{ next, scheduled: '2026-01-05T07:00:00.000Z' },
        run: { ...begun('scheduled 2026-01-05T07:00:00.000Z'), verify: 'Restore' },
      },
    ],
    ['is not due at a time of an earlier schedule', store, { next: '2026-01-05T09:15:00.000Z' }, undefined, { next }],
    ['takes a new schedule over', store, { next: '2026-01-09T11:00:00.000Z' }, undefined, { next }],
    [
      'does not go back with the clock',
      store,
      { next: '2026-01-05T13:00:00.000Z', scheduled: '2026-01-05T12:00:00.000Z' },
      undefined,
      { next: '2026-01-05T13:00:00.000Z', scheduled: '2026-01-05T12:00:00.000Z' },
    ],
    [
      'comes back from a clock that was a year ahead',
      store,
      { next: '2027-01-05T13:00:00.000Z', scheduled: '2027-01-05T12:00:00.000Z' },
      undefined,
      { next, scheduled: '2027-01-05T12:00:00.000Z' },
    ],
    ['has none any more', { name: 'hourly', path: '/b' }, { next }, undefined, {}],
    ['takes up what a person asks', store, { next }, { request: 'r1' }, { next, asked: 'r1', run: begun('asked r1') }],
    ['does not take it up twice', store, { next, asked: 'r1' }, { request: 'r1' }, { next, asked: 'r1' }],
    [
      'checks as the person said',
      store,
      { next },
      { request: 'r1', verify: 'Restore' },
      { next, asked: 'r1', run: { ...begun('asked r1'), verify: 'Restore' } },
    ],
    ['ends what is under way first', store, { next, run, asked: 'r0' }, { request: 'r1' }, { next, run, asked: 'r0' }],
    [
      'keeps what comes due meanwhile',
      store,
      { next: '2026-01-05T10:00:00.000Z', run },
      undefined,
      { next: '2026-01-05T10:00:00.000Z', run },
    ],
    [
      'keeps what is due behind what a person asks',
      store,
      { next: '2026-01-05T10:00:00.000Z' },
      { request: 'r1' },
      { next: '2026-01-05T10:00:00.000Z', asked: 'r1', run: begun('asked r1') },
    ],
  ])('%s', (_what, spec, before, demand, after) => {
    const recorded = before && { store: 'hourly', ...before }
    expect(storeTurn(spec, recorded, demand, now)).toEqual({ record: { store: 'hourly', ...after } })
  })

  it.each([
    ['30 2 30 2 *', undefined, 'never fires'],
    ['0 * * * *', 'Mars/Olympus', 'Mars/Olympus'],
  ])('says what is wrong with %s %s', (cron, timeZone, says) => {
    const schedule = { cron, ...(timeZone !== undefined && { timeZone }) }
    expect(storeTurn({ ...store, schedule }, undefined, undefined, now)).toEqual({
      record: { store: 'hourly' },
      problem: expect.stringContaining(says),
    })
  })

  it('never takes up the same time twice, whatever the clock does, and is never late', () => {
    const jump = fc.integer({ min: -1_800_000, max: 1_800_000 })
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 40 }), (jumps) => {
        let nowMs = now.getTime()
        let record: StoreRecord | undefined
        const taken: string[] = []
        for (const ms of jumps) {
          nowMs += ms
          const { run: due, ...rest } = storeTurn(store, record, undefined, new Date(nowMs)).record
          if (due) taken.push(due.subject)
          record = rest
          expect(Date.parse(record.next ?? '')).toBeGreaterThan(nowMs)
        }
        expect(new Set(taken).size).toBe(taken.length)
      }),
    )
  })
})

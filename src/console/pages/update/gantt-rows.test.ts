import { expect, test } from 'vitest'
import type { CalendarView, WaveView } from '../../../api/console.ts'
import { ZoneClock } from '../../timeline/wall-clock.ts'
import { drawnUpdate } from '../drawn-views.ts'
import { foldText, ganttRows, ganttScale } from './gantt-rows.ts'

const clock = new ZoneClock('Europe/Berlin')
const now = Date.parse('2026-11-15T00:46:00Z')
const calendar: CalendarView = {
  timeZone: 'Europe/Berlin',
  always: false,
  windows: [
    { from: '2026-11-14T21:00:00Z', to: '2026-11-15T03:00:00Z', title: '22:00–04:00', work: [] },
    { from: '2026-11-15T21:00:00Z', to: '2026-11-16T03:00:00Z', title: '22:00–04:00', work: [] },
  ],
  freezes: [],
  runs: [],
}
const wave: WaveView = { title: 'Wave 1', nodes: 10, done: 10, failed: 0 }
const rowOf = (facts: Partial<WaveView>) => {
  const [row] = ganttRows(drawnUpdate({ waves: [{ ...wave, ...facts }] }), calendar, now, clock)
  if (!row) throw new Error('no row')
  return row
}

test('what happened is solid, from its beginning to its end', () => {
  const { marks } = rowOf({ startedAt: '2026-11-14T21:10:00Z', finishedAt: '2026-11-14T22:10:00Z' })
  expect(marks).toEqual([
    {
      kind: 'bar',
      look: 'done',
      from: Date.parse('2026-11-14T21:10:00Z'),
      to: Date.parse('2026-11-14T22:10:00Z'),
      text: '10',
    },
  ])
})

test('what is under way is solid until now and hatched from now on', () => {
  const { marks } = rowOf({
    done: 4,
    startedAt: '2026-11-15T00:00:00Z',
    predicted: { startsAt: '2026-11-15T00:00:00Z', endsAt: '2026-11-15T01:30:00Z' },
  })
  expect(marks.map((mark) => mark.kind === 'bar' && [mark.look, mark.to])).toEqual([
    ['work', now],
    ['predicted', Date.parse('2026-11-15T01:30:00Z')],
  ])
})

test('a forecast that is over is not drawn backwards', () => {
  const { marks } = rowOf({
    startedAt: '2026-11-15T00:00:00Z',
    predicted: { startsAt: '2026-11-15T00:00:00Z', endsAt: '2026-11-15T00:30:00Z' },
  })
  expect(marks).toHaveLength(1)
})

test('what is only predicted says so by ≈', () => {
  const { marks, spoken } = rowOf({
    done: 0,
    predicted: { startsAt: '2026-11-15T01:00:00Z', endsAt: '2026-11-15T02:00:00Z' },
  })
  expect(marks).toMatchObject([{ look: 'predicted', text: '≈ 10 nodes' }])
  expect(spoken).toBe('Wave 1, 10 nodes; predicted to begin at 02:00, predicted to end at 03:00')
})

test.each([
  ['given', { asked: true, by: 'ana', at: '2026-11-14T22:58:00Z' }, true, 'approved by ana 23:58'],
  ['asked for', { asked: true }, false, 'waits for approval'],
  ['to come', { asked: false }, false, 'approval ≈ 23:30'],
])('an approval that is %s stands after the soak', (_, approval, given, note) => {
  const row = rowOf({
    startedAt: '2026-11-14T21:10:00Z',
    finishedAt: '2026-11-14T22:10:00Z',
    soakUntil: '2026-11-14T22:30:00Z',
    approval,
  })
  expect(row.marks.map((mark) => (mark.kind === 'bar' ? mark.look : mark.given))).toEqual(['done', 'soak', given])
  expect(row.note).toBe(note)
})

test('backups come first, as marks without a length', () => {
  const backup = { store: 'nightly', location: 'a', at: '2026-11-14T21:00:00Z', reason: 'before', verified: 'Hash' }
  const [row] = ganttRows(drawnUpdate({ backups: [backup], waves: [wave] }), calendar, now, clock)
  expect(row).toMatchObject({ title: 'etcd backup', note: '1 stored, verified' })
})

test('the line begins where the window opened and folds the day between two nights', () => {
  const rows = ganttRows(
    drawnUpdate({
      waves: [
        { ...wave, startedAt: '2026-11-14T21:10:00Z', finishedAt: '2026-11-14T22:10:00Z' },
        { ...wave, done: 0, predicted: { startsAt: '2026-11-15T21:00:00Z', endsAt: '2026-11-15T21:20:00Z' } },
      ],
    }),
    calendar,
    now,
    clock,
  )
  const scale = ganttScale(rows, calendar, now, false)
  expect(new Date(scale.from).toISOString()).toBe('2026-11-14T21:00:00.000Z')
  const folds = scale.stretches.filter(({ folded }) => folded)
  expect(folds.map((fold) => foldText(fold, calendar, now))).toEqual(['18 h closed'])
})

test('a soak of days is folded, and an update without a mark still has a line with now on it', () => {
  const soaking = {
    startedAt: '2026-11-14T23:00:00Z',
    finishedAt: '2026-11-15T00:00:00Z',
    soakUntil: '2026-11-18T00:00:00Z',
  }
  const always = { ...calendar, windows: [], always: true }
  const rows = ganttRows(drawnUpdate({ waves: [{ ...wave, ...soaking }] }), always, now, clock)
  const folds = ganttScale(rows, always, now, false).stretches.filter(({ folded }) => folded)
  expect(folds.map((fold) => foldText(fold, always, now))).toEqual(['71 h quiet'])
  const bare = ganttScale([], always, now, false)
  expect(bare.at(now)).toBeLessThan(100)
})

test('of an update that has ended the line ends with it, however long ago that was', () => {
  const done = { ...wave, startedAt: '2026-11-14T21:10:00Z', finishedAt: '2026-11-14T22:10:00Z' }
  const rows = ganttRows(drawnUpdate({ waves: [done] }), calendar, now, clock)
  const scale = ganttScale(rows, calendar, Date.parse('2026-12-24T00:00:00Z'), true)
  expect(scale.to - Date.parse(done.finishedAt)).toBeLessThan(3_600_000)
})

test('a forecast is drawn in the hours in which work may go on, and without its freezes', () => {
  const frozen = { ...calendar, freezes: [{ from: '2026-11-15T22:00:00Z', to: '2026-11-15T23:00:00Z', reason: 'x' }] }
  const predicted = { startsAt: '2026-11-15T02:00:00Z', endsAt: '2026-11-15T23:30:00Z' }
  const [row] = ganttRows(drawnUpdate({ waves: [{ ...wave, predicted }] }), frozen, now, clock)
  expect(
    row?.marks.map((mark) => mark.kind === 'bar' && [clock.time(mark.from), clock.time(mark.to), mark.text]),
  ).toEqual([
    ['03:00', '04:00', '≈ 10 nodes'],
    ['22:00', '23:00', undefined],
    ['00:00', '00:30', undefined],
  ])
})

test('a forecast that lies in closed hours as a whole is still shown', () => {
  const predicted = { startsAt: '2026-11-15T10:00:00Z', endsAt: '2026-11-15T11:00:00Z' }
  expect(rowOf({ predicted }).marks).toHaveLength(1)
})

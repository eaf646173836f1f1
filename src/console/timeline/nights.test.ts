import { expect, test } from 'vitest'
import { nights, piecesOf, placeInNight } from './nights.ts'
import { ZoneClock } from './wall-clock.ts'

const berlin = new ZoneClock('Europe/Berlin')
const at = (text: string) => Date.parse(text)
const rows = (text: string, week = 0) => nights(at(text), berlin, week)

test('the first row is the night that runs, before noon that of the day before', () => {
  expect(rows('2026-11-15T00:46:00Z')[0]).toMatchObject({ day: 'Sat 14', next: 'Sun 15', hours: 24 })
  expect(rows('2026-11-15T11:30:00Z')[0]).toMatchObject({ day: 'Sun 15', next: 'Mon 16' })
  expect(rows('2026-11-15T11:30:00Z')).toHaveLength(7)
  expect(rows('2026-11-15T11:30:00Z', 1)[0]?.day).toBe('Sun 22')
})

test('rows follow each other without a gap, in the weeks in which clocks are changed too', () => {
  for (const start of ['2026-10-22T15:00:00Z', '2026-03-26T15:00:00Z', '2026-12-29T15:00:00Z']) {
    const week = rows(start)
    for (const [index, night] of week.entries()) expect(week[index + 1]?.from ?? night.to).toBe(night.to)
  }
})

test.each([
  ['back', '2026-10-24T15:00:00Z', 25],
  ['on', '2026-03-28T15:00:00Z', 23],
])('in the night in which clocks go %s a row has its own length and 22:00–04:00 its usual place', (_, start, hours) => {
  const [night] = rows(start)
  if (!night) throw new Error('no night')
  expect(night.hours).toBe(hours)
  const wall = { year: 2026, month: new Date(start).getUTCMonth() + 1, minute: 0 }
  const day = new Date(start).getUTCDate()
  const window = {
    from: new Date(berlin.instant({ ...wall, day, hour: 22 })).toISOString(),
    to: new Date(berlin.instant({ ...wall, day: day + 1, hour: 4 })).toISOString(),
  }
  const [piece] = piecesOf(night, berlin, [window])
  expect(piece?.left).toBeCloseTo((10 / 24) * 100)
  expect(piece?.width).toBeCloseTo((6 / 24) * 100)
})

test('what lies wholly in the hour that comes twice can still be seen', () => {
  const [night] = rows('2026-10-24T15:00:00Z')
  if (!night) throw new Error('no night')
  const [piece] = piecesOf(night, berlin, [{ from: '2026-10-25T00:50:00Z', to: '2026-10-25T01:10:00Z' }])
  expect(piece?.width).toBeGreaterThan(0)
})

test('what goes over noon is cut and told to go on', () => {
  const [first, second] = rows('2026-11-14T15:00:00Z')
  if (!(first && second)) throw new Error('no nights')
  const freeze = { from: '2026-11-15T03:00:00Z', to: '2026-11-15T17:00:00Z' }
  const [before] = piecesOf(first, berlin, [freeze])
  const [after] = piecesOf(second, berlin, [freeze])
  expect(before).toMatchObject({ cutLeft: false, cutRight: true })
  expect((before?.left ?? 0) + (before?.width ?? 0)).toBe(100)
  expect(after).toMatchObject({ left: 0, cutLeft: true, cutRight: false })
})

test('what touches a night only at its edge is not in it', () => {
  const [night] = rows('2026-11-14T15:00:00Z')
  if (!night) throw new Error('no night')
  expect(piecesOf(night, berlin, [{ from: '2026-11-14T08:00:00Z', to: '2026-11-14T11:00:00Z' }])).toEqual([])
  expect(placeInNight(night, berlin, at('2026-11-15T05:00:00Z'))).toBe(75)
})

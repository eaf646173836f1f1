import { expect, test } from 'vitest'
import { daysLater, ZoneClock } from './wall-clock.ts'

const berlin = new ZoneClock('Europe/Berlin')

test.each([
  ['2026-11-14T21:00:00Z', 'Europe/Berlin', '22:00', 'Sat 14'],
  ['2026-11-14T23:30:00Z', 'Europe/Berlin', '00:30', 'Sun 15'],
  ['2026-11-14T23:30:00Z', 'Asia/Kolkata', '05:00', 'Sun 15'],
  ['2026-11-14T23:30:00Z', 'No/Such_Zone', '23:30', 'Sat 14'],
])('%s in %s shows %s', (instant, zone, time, day) => {
  const clock = new ZoneClock(zone)
  expect([clock.time(Date.parse(instant)), clock.day(Date.parse(instant))]).toEqual([time, day])
})

test.each([
  ['an ordinary noon', { month: 11, day: 14, hour: 12, minute: 0 }, '2026-11-14T11:00:00Z'],
  ['noon of the day on which clocks went back', { month: 10, day: 25, hour: 12, minute: 0 }, '2026-10-25T11:00:00Z'],
  ['the hour that comes twice', { month: 10, day: 25, hour: 2, minute: 30 }, '2026-10-25T00:30:00Z'],
  ['the hour that is left out', { month: 3, day: 29, hour: 2, minute: 30 }, '2026-03-29T01:30:00Z'],
])('%s is one instant', (_, wall, instant) => {
  expect(new Date(berlin.instant({ year: 2026, ...wall })).toISOString()).toBe(instant.replace('Z', '.000Z'))
})

test('days later goes over the end of a month and keeps the hour', () => {
  const last = { year: 2026, month: 12, day: 31, hour: 12, minute: 0 }
  expect(daysLater(last, 1)).toEqual({ year: 2027, month: 1, day: 1, hour: 12, minute: 0 })
})

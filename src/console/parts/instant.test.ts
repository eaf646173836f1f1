import { expect, test } from 'vitest'
import { clockText, countdownText, instantText, spanText } from './instant.ts'

const zone = 'Europe/Berlin'
const now = Date.parse('2026-11-15T00:46:12Z')

test.each([
  ['today', '2026-11-15T00:21:00Z', '01:21'],
  ['yesterday by the clock on the wall, though an hour ago', '2026-11-14T22:50:00Z', 'Sat 23:50'],
  ['this week', '2026-11-13T15:20:00Z', 'Fri 16:20'],
  ['long ago', '2026-10-20T12:05:00Z', '20 Oct 14:05'],
  ['in the coming days', '2026-11-17T02:00:00Z', 'Tue 03:00'],
])('%s', (_, at, text) => {
  expect(instantText(Date.parse(at), now, { zone })).toBe(text)
})

test('a clock is always as wide, midnight included', () => {
  expect(clockText(Date.parse('2026-11-14T23:00:05Z'), zone)).toBe('00:00:05')
})

test.each([
  [0, '0 s'],
  [12_000, '12 s'],
  [190_000, '3 m 10 s'],
  [180_000, '3 m'],
  [134 * 60_000, '2 h 14 m'],
  [76 * 3_600_000, '3 d 4 h'],
  [-5_000, '0 s'],
])('%d ms take %s', (ms, text) => {
  expect(spanText(ms)).toBe(text)
})

test.each([
  [105_000, '1:45'],
  [500, '0:01'],
  [7_509_000, '2:05:09'],
  [-1, '0:00'],
])('%d ms are %s', (ms, text) => {
  expect(countdownText(ms)).toBe(text)
})

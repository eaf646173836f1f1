import { expect, test } from 'vitest'
import type { CalendarView } from '../../../api/console.ts'
import { nights } from '../../timeline/nights.ts'
import { ZoneClock } from '../../timeline/wall-clock.ts'
import { nightSentence } from './night-sentence.ts'

const clock = new ZoneClock('Europe/Berlin')
const [first, second] = nights(Date.parse('2026-11-14T15:00:00Z'), clock)
const calendar: CalendarView = {
  timeZone: 'Europe/Berlin',
  always: false,
  windows: [{ from: '2026-11-14T21:00:00Z', to: '2026-11-15T03:00:00Z', title: '22:00–04:00', work: [] }],
  freezes: [{ from: '2026-11-15T05:00:00Z', to: '2026-11-15T19:00:00Z', reason: 'load test' }],
  runs: [{ update: 'to-1-36', from: '2026-11-14T21:00:00Z', to: '2026-11-14T23:00:00Z', predicted: true }],
}

test('a night is said in words, what goes over noon as far as it is in it', () => {
  if (!(first && second)) throw new Error('no nights')
  expect(nightSentence(first, calendar, clock)).toBe(
    'Sat 14 to Sun 15: window 22:00 to 04:00; freeze 06:00 to 12:00, load test; to-1-36 predicted 22:00 to 00:00',
  )
  expect(nightSentence(second, calendar, clock)).toBe('Sun 15 to Mon 16: freeze 12:00 to 20:00, load test')
})

test('a night with nothing says whether work may start', () => {
  if (!first) throw new Error('no night')
  const bare = { ...calendar, windows: [], freezes: [], runs: [] }
  expect(nightSentence(first, bare, clock)).toBe('Sat 14 to Sun 15: no window')
  expect(nightSentence(first, { ...bare, always: true }, clock)).toBe('Sat 14 to Sun 15: nothing planned')
})

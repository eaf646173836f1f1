import { describe, expect, it } from 'vitest'
import { Calendar, type CalendarTerms } from '../time/calendar.ts'
import { type Seated, seat, type WorkedNode } from './sittings.ts'

const minute = 60_000
/** A Monday. */
const eight = Date.parse('2026-01-05T08:00:00Z')

/** One after the other, each so many minutes. */
function inTurn(count: number, minutes: number): readonly WorkedNode[] {
  return Array.from({ length: count }, (_, i) => ({ atMs: i * minutes * minute, backMs: (i + 1) * minutes * minute }))
}

function seated(nodes: readonly WorkedNode[], ...terms: readonly CalendarTerms[]): Seated {
  const workMs = Math.max(...nodes.map(({ backMs }) => backMs))
  return seat(nodes, workMs, { calendars: terms.map((term) => new Calendar(term)), kind: 'Update', fromMs: eight })
}

function timesOf(result: Seated): readonly string[] {
  if (!result.seated) return [result.reason.code]
  const { sittings, ends } = result.schedule
  return [
    ...sittings.map(({ from, nodes, done }) => `${from.slice(8, 16)} ${nodes} ${done}`),
    `ends ${ends.slice(8, 16)}`,
  ]
}

describe('a rehearsal laid over the calendar', () => {
  it.each([
    { name: 'any time', terms: [{}], times: ['05T08:00 6 6', 'ends 05T09:00'] },
    {
      name: 'one window that is long enough',
      terms: [{ windows: [{ start: '22:00', end: '04:00' }] }],
      times: ['05T22:00 6 6', 'ends 05T23:00'],
    },
    {
      name: 'a window every day for three of them',
      terms: [{ windows: [{ start: '09:00', end: '09:35' }] }],
      times: ['05T09:00 3 3', '06T09:00 3 6', 'ends 06T09:30'],
    },
    {
      name: 'a freeze over the second day',
      terms: [
        {
          windows: [{ start: '09:00', end: '09:35' }],
          freezes: [{ from: '2026-01-06', to: '2026-01-07', reason: 'stock taking' }],
        },
      ],
      times: ['05T09:00 3 3', '08T09:00 3 6', 'ends 08T09:30'],
    },
    {
      name: 'windows of its own within those of the cluster',
      terms: [{ windows: [{ start: '09:00', end: '12:00' }] }, { windows: [{ start: '11:00', end: '23:00' }] }],
      times: ['05T11:00 6 6', 'ends 05T12:00'],
    },
    {
      name: 'a window for other work only',
      terms: [{ windows: [{ start: '09:00', end: '12:00', work: ['Reboot' as const] }] }],
      times: ['WindowNeverOpens'],
    },
  ])('$name', ({ terms, times }) => {
    expect(timesOf(seated(inTurn(6, 10), ...terms))).toEqual(times)
  })

  it('keeps nodes that go at the same time together, and what comes after the last one', () => {
    const pairs = [0, 0, 10, 10].map((at) => ({ atMs: at * minute, backMs: (at + 10) * minute }))
    const result = seat(pairs, 25 * minute, {
      calendars: [new Calendar({ windows: [{ start: '09:00', end: '09:15' }] })],
      kind: 'Update',
      fromMs: eight,
    })
    expect(timesOf(result)).toEqual(['05T09:00 2 2', '06T09:00 2 4', 'ends 06T09:15'])
  })

  it('never puts a node outside the windows, nor one before another', () => {
    const calendar = new Calendar({ windows: [{ start: '23:30', end: '00:10' }] })
    const result = seat(inTurn(40, 7), 280 * minute, { calendars: [calendar], kind: 'Update', fromMs: eight })
    if (!result.seated) throw new Error(result.reason.message)
    const { sittings } = result.schedule
    expect(sittings.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(40)
    for (const { from, closes = '' } of sittings) {
      expect(from.slice(11, 16)).toBe('23:30')
      expect(closes.slice(11, 16)).toBe('00:10')
    }
    expect(sittings.map(({ from }) => from)).toEqual(sittings.map(({ from }) => from).toSorted())
  })
})

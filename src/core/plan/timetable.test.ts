import { describe, expect, it } from 'vitest'
import { type TimetableView, timetable } from './timetable.ts'

const none: TimetableView['setsOf'] = () => []
const waves = (...names: readonly string[]) => names.map((list) => ({ nodes: list.split(' '), soakMs: 0 }))

describe('a timetable', () => {
  const msOf = (name: string) => ({ a: 30, b: 10, c: 10, d: 10 })[name] ?? 0

  it.each([
    { name: 'one after the other', waves: waves('a b c d'), atOnce: 1, ms: 60 },
    { name: 'two at once, in turn', waves: waves('a b c d'), atOnce: 2, ms: 30 },
    { name: 'wave after wave', waves: waves('a b', 'c d'), atOnce: 2, ms: 40 },
    { name: 'with time to look', waves: [{ nodes: ['a'], soakMs: 5 }, ...waves('b')], atOnce: 2, ms: 45 },
    { name: 'nobody', waves: [{ nodes: [], soakMs: 5 }], atOnce: 1, ms: 0 },
  ])('of $name', ({ waves: list, atOnce, ms }) => {
    expect(timetable({ waves: list, atOnce, msOf, setsOf: none }).endMs).toBe(ms)
  })

  it('passes over a node whose own set is full', () => {
    const zone = { name: 'zone a', maxUnavailable: 1 }
    const setsOf = (name: string) => (name === 'd' ? [] : [zone])
    // a and d together, then b, then c: they share a zone.
    const { endMs, nodes } = timetable({ waves: waves('a b c d'), atOnce: 2, msOf, setsOf })
    expect(endMs).toBe(50)
    expect([...nodes].map(([name, { atMs, backMs }]) => `${name} ${atMs} ${backMs}`)).toEqual([
      'a 0 30',
      'd 0 10',
      'b 30 40',
      'c 40 50',
    ])
  })
})

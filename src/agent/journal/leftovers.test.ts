import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../../sim/seeded-random.ts'
import { type EndedOrder, leftovers } from './leftovers.ts'

const day = 24 * 3_600_000
const nowMs = Date.parse('2026-03-01T00:00:00Z')
const ended = (name: string, daysAgo: number, logBytes = 10): EndedOrder => ({
  name,
  finishedAt: new Date(nowMs - daysAgo * day).toISOString(),
  logBytes,
})
const keeping = { operations: 3, forMs: 30 * day, logBytes: 100 }

describe('what of ended orders goes', () => {
  it.each([
    { name: 'nothing', orders: [], folders: [], logs: [] },
    { name: 'few and young', orders: [ended('a', 3), ended('b', 2), ended('c', 1)], folders: [], logs: [] },
    {
      name: 'too many: the oldest',
      orders: [ended('d', 4), ended('a', 3), ended('b', 2), ended('c', 1)],
      folders: ['d'],
      logs: [],
    },
    { name: 'too old', orders: [ended('a', 31), ended('b', 29)], folders: ['a'], logs: [] },
    { name: 'the newest stays, however old', orders: [ended('a', 99)], folders: [], logs: [] },
    {
      name: 'too large: the logs of the oldest',
      orders: [ended('a', 3, 50), ended('b', 2, 50), ended('c', 1, 40)],
      folders: [],
      logs: ['a'],
    },
    { name: 'the newest keeps its logs, however large', orders: [ended('a', 1, 999)], folders: [], logs: [] },
  ])('$name', ({ orders, folders, logs }) => {
    expect(leftovers(orders, keeping, nowMs)).toEqual({ folders, logs })
  })

  it('never touches the newest, and what is left keeps to the limits', () => {
    const random = new SeededRandom(7)
    for (let run = 0; run < 300; run++) {
      const orders = Array.from({ length: random.whole(1, 12) }, (_, index) =>
        ended(`o${index}`, random.whole(0, 60), random.whole(0, 90)),
      )
      const { folders, logs } = leftovers(orders, keeping, nowMs)
      const newest = orders.toSorted((a, b) => Date.parse(b.finishedAt) - Date.parse(a.finishedAt))[0]
      expect([...folders, ...logs]).not.toContain(newest?.name)
      const left = orders.filter(({ name }) => !folders.includes(name))
      expect(left.length).toBeLessThanOrEqual(keeping.operations)
      const bytes = left.filter(({ name }) => !logs.includes(name)).reduce((sum, { logBytes }) => sum + logBytes, 0)
      expect(bytes).toBeLessThanOrEqual(Math.max(keeping.logBytes, newest?.logBytes ?? 0))
    }
  })
})

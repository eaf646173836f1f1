import { describe, expect, it } from 'vitest'
import { maxTold, type Receiver, type ReceiverRecord } from '../../api/notification.ts'
import type { News } from './news.ts'
import { openTo, owedOf, withTold } from './owed.ts'

const record = { receiver: 'on-call', since: '2026-01-05T09:00:00.700Z', told: ['b'] }
const receiver: Receiver = { name: 'on-call', webhook: { url: 'https://example.com' } }
const news = (key: string, at: string, kind: News['kind'] = 'Started'): News => ({
  ...{ key, kind, at, code: kind, message: key },
})

it.each([
  ['an update that was applied in the same second', '2026-01-05T09:00:00.000Z', true],
  ['one of an API server whose clock is behind', '2026-01-05T08:59:20Z', true],
  ['what was long before', '2026-01-05T08:58:00.000Z', false],
  ['what comes later', '2026-01-05T10:00:00.000Z', true],
])('of %s', (_name, at, isOwed) => {
  const owed = (to: Receiver, all: readonly News[]) => owedOf(record, openTo(to, record, all).open)
  expect(owed(receiver, [news('a', at), news('b', at)]).map(({ key }) => key)).toEqual(isOwed ? ['a'] : [])
  expect(owed({ ...receiver, on: ['Finished'] }, [news('a', at)])).toEqual([])
})

describe('more than a record holds', () => {
  const minute = (at: number) => new Date(Date.parse('2026-01-05T10:00:00Z') + at * 60_000).toISOString()
  const many = (count: number, kind: News['kind'] = 'NodeFailed') =>
    Array.from({ length: count }, (_, at) => news(`n${at}`, minute(at), kind))

  /** All keys in the order they are sent, by as many turns as it takes. */
  function tellAll(all: readonly News[]): readonly string[] {
    const sent: string[] = []
    let known: ReceiverRecord = { ...record, told: [] }
    while (sent.length < 10 * all.length) {
      const { open } = openTo(receiver, known, all)
      const [next] = owedOf(known, open)
      if (!next) return sent
      sent.push(next.key)
      known = { ...known, told: [...withTold(known, next.key, open)] }
    }
    throw new Error('there is no end to it')
  }

  it('is told once each, the newest of it, and comes to an end', () => {
    const all = many(100)
    expect(tellAll(all)).toEqual(all.slice(-maxTold).map(({ key }) => key))
    expect(openTo(receiver, record, all).leftOut).toBe(100 - maxTold)
  })

  it('is told of its own kinds: others take no room', () => {
    const all = [news('first', minute(0), 'Failed'), ...many(100)]
    expect(openTo({ ...receiver, on: ['Failed'] }, record, all)).toMatchObject({ open: [{ key: 'first' }], leftOut: 0 })
  })

  it('leaves room for what waits for a person, however long it has', () => {
    const all = [news('first', minute(0), 'ApprovalWanted'), ...many(100)]
    expect(openTo(receiver, record, all).open.map(({ key }) => key)).toEqual([
      'first',
      ...many(100)
        .slice(1 - maxTold)
        .map(({ key }) => key),
    ])
  })
})

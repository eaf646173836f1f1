import { expect, it } from 'vitest'
import type { News } from './news.ts'
import { owedTo } from './owed.ts'

const record = { receiver: 'on-call', since: '2026-01-05T09:00:00.700Z', told: ['b'] }
const news = (key: string, at: string): News => ({ key, kind: 'Started', at, code: 'Started', message: key })

it.each([
  ['an update that was applied in the same second', '2026-01-05T09:00:00.000Z', true],
  ['one of an API server whose clock is behind', '2026-01-05T08:59:20Z', true],
  ['what was long before', '2026-01-05T08:58:00.000Z', false],
  ['what comes later', '2026-01-05T10:00:00.000Z', true],
])('of %s', (_name, at, isOwed) => {
  const receiver = { name: 'on-call', webhook: { url: 'https://example.com' } }
  expect(owedTo(receiver, record, [news('a', at), news('b', at)]).map(({ key }) => key)).toEqual(isOwed ? ['a'] : [])
  expect(owedTo({ ...receiver, on: ['Finished'] }, record, [news('a', at)])).toEqual([])
})

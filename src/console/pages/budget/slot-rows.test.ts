import { expect, test } from 'vitest'
import type { BudgetView, SlotView } from '../../../api/console.ts'
import { holders, slotSentence, squares } from './slot-rows.ts'

const slot = (node: string, since?: string): SlotView => ({
  node,
  phase: 'Draining',
  holder: 'to-1-36',
  returnsWhen: 'its pods are gone',
  ...(since !== undefined && { since }),
})
const budget = (title: string, limit: number, used: readonly SlotView[]): BudgetView => ({ title, limit, used })

test.each([
  ['none set', [], 'No budget is set'],
  ['one used', [budget('cluster', 3, [slot('a')])], '1 of 3 slots is in use'],
  [
    'a part full',
    [budget('cluster', 14, [slot('a'), slot('b')]), budget('zone eu-1b', 2, [slot('a'), slot('b')])],
    '2 of 14 slots are in use, zone eu-1b is full',
  ],
  [
    'many parts full',
    [budget('cluster', 14, []), ...['a', 'b', 'c'].map((title) => budget(title, 0, []))],
    '0 of 14 slots are in use, 3 budgets are full',
  ],
])('%s', (_, budgets, sentence) => {
  expect(slotSentence(budgets)).toBe(sentence)
})

test('a node counts once, the oldest first, those of unknown age last', () => {
  const [a, b, c] = [slot('a', '2026-11-15T02:00:00Z'), slot('b', '2026-11-14T02:00:00Z'), slot('c')]
  const shown = holders([budget('cluster', 9, [c, a, b]), budget('zone', 2, [a])])
  expect(shown.map(({ node }) => node)).toEqual(['b', 'a', 'c'])
})

test('a budget of hundreds is drawn as far as there is room, what is used first', () => {
  const many = Array.from({ length: 30 }, (_, index) => slot(`n${index}`))
  expect(squares(budget('cluster', 500, many.slice(0, 3)))).toMatchObject({ free: 25, more: 472 })
  expect(squares(budget('cluster', 500, many))).toMatchObject({ free: 0, more: 472 })
  expect(squares(budget('cluster', 1, many.slice(0, 2)))).toMatchObject({ free: 0, more: 0 })
})

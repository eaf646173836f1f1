import { expect, test } from 'vitest'
import type { PlanAnswer, RunView } from '../../../api/console.ts'
import { drawnPlan } from '../drawn-views.ts'
import { accuracy, matching, runRows, runSentence } from './run-rows.ts'

const now = Date.parse('2026-11-15T01:00:00Z')
const run = (update: string, facts: Partial<RunView> = {}): RunView => ({
  update,
  operationID: `${update}-1`,
  target: 'v1.36.3',
  phase: 'Succeeded',
  startedAt: '2026-11-14T22:00:00Z',
  finishedAt: '2026-11-14T23:00:00Z',
  ...facts,
})
const plan = (update: string, at: string, expected: number): PlanAnswer =>
  drawnPlan({ id: update + at, update, at, durationSeconds: { least: 1, expected, most: 9_999 } })
const { finishedAt: _, ...open } = run('now', { phase: 'InProgress' })

test('the newest comes first; one that goes on has taken until now', () => {
  const rows = runRows(
    [run('old', { startedAt: '2026-11-01T22:00:00Z', finishedAt: '2026-11-01T22:10:00Z' }), open],
    [],
    now,
  )
  expect(rows.map(({ update, tookSeconds }) => [update, tookSeconds])).toEqual([
    ['now', 10_800],
    ['old', 600],
  ])
})

test('what was predicted is the last plan before the start, of the same target', () => {
  const plans = [
    plan('a', '2026-11-14T20:00:00Z', 100),
    plan('a', '2026-11-14T21:00:00Z', 200),
    plan('a', '2026-11-14T22:30:00Z', 300),
    plan('b', '2026-11-14T21:00:00Z', 400),
  ]
  expect(runRows([run('a')], plans, now)[0]?.predictedSeconds).toBe(200)
  expect(runRows([run('a', { target: 'v1.35.0' })], plans, now)[0]?.predictedSeconds).toBeUndefined()
})

test.each([
  ['All', '', ['good', 'bad', 'now']],
  ['Succeeded', '', ['good']],
  ['Failed', '', ['bad']],
  ['Under way', '', ['now']],
  ['All', ' GOO ', ['good']],
  ['All', '1.36', ['good', 'bad', 'now']],
  ['Failed', 'good', []],
] as const)('%s with %j shows %s', (filter, words, expected) => {
  const rows = runRows([run('good'), run('bad', { phase: 'Failed' }), open], [], now)
  expect(matching(rows, filter, words).map(({ update }) => update)).toEqual(expected)
})

test('the sentence counts what succeeded and how far predictions were off', () => {
  const plans = ['a', 'b', 'c'].map((name, index) => plan(name, '2026-11-14T21:00:00Z', 3_600 + (index + 1) * 60))
  const rows = runRows([run('a'), run('b'), run('c'), run('d', { phase: 'Failed' })], plans, now)
  expect(runSentence(rows)).toEqual({ title: 'The last 4 runs: 3 succeeded', offSeconds: 120 })
  expect(runSentence([])).toEqual({ title: 'Nothing ran yet' })
})

test('bars of one table have one scale', () => {
  const rows = runRows([run('a'), open], [plan('a', '2026-11-14T21:00:00Z', 5_400)], now)
  const [, first] = rows
  const [one] = rows.filter(({ update }) => update === 'a')
  if (!(one && first)) throw new Error('no rows')
  expect(accuracy(one, rows)).toEqual({ real: (3_600 / 10_800) * 100, predicted: 50 })
})

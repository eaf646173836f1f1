import { expect, test } from 'vitest'
import { histogram } from './histogram.ts'

test('every run stands in one column', () => {
  const durations = Array.from({ length: 200 }, (_, index) => 10_000 + index * 37)
  const drawn = histogram(durations)
  expect(drawn?.columns.reduce((sum, { count }) => sum + count, 0)).toBe(200)
  expect(drawn?.columns.length).toBeLessThanOrEqual(21)
  expect(drawn?.fromSeconds).toBeLessThanOrEqual(10_000)
})

test('half and nine of ten are lengths that runs had', () => {
  const drawn = histogram([50, 10, 20, 30, 40, 60, 70, 80, 90, 100])
  expect([drawn?.halfSeconds, drawn?.mostSeconds]).toEqual([50, 90])
})

test('one length for all is one column with its line inside', () => {
  const drawn = histogram([600, 600, 600])
  expect(drawn?.columns).toEqual([{ fromSeconds: 600, toSeconds: 601, count: 3 }])
  expect(drawn?.at(600)).toBe(0)
})

test('the close of a window is on the line even where no run reaches it', () => {
  const drawn = histogram([3600, 4000], 7200)
  expect(drawn?.toSeconds).toBeGreaterThanOrEqual(7200)
  expect(drawn?.at(7200)).toBeLessThanOrEqual(100)
})

test('no runs, no picture', () => {
  expect(histogram([])).toBeUndefined()
})

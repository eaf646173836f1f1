import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { always, type Opening } from '../time/spans.ts'
import { type ForecastWave, forecast, nodeTime } from './forecast.ts'

const minute = 60_000
const wave = (change: Partial<ForecastWave> = {}): ForecastWave => ({
  ...{ left: 4, working: 0, elapsedMs: 0, atOnce: 2, soakMs: 0 },
  ...change,
})
/** Open for ten minutes of every hour. */
const hourly: Opening = {
  at: (atMs) => {
    const hour = Math.floor(atMs / (60 * minute)) * 60 * minute
    const fromMs = atMs < hour + 10 * minute ? hour : hour + 60 * minute
    return { fromMs, toMs: fromMs + 10 * minute }
  },
}

describe('what a node takes', () => {
  it('by what was measured, else by what is assumed; always as a range', () => {
    expect(nodeTime([], 100)).toEqual({ least: 60, likely: 100, most: 200 })
    expect(nodeTime([10], 100)).toEqual({ least: 8, likely: 10, most: 13 })
    expect(nodeTime([10, 20, 30, 40, 50], 100)).toMatchObject({ likely: 30, least: 10, most: 50 })
  })
})

describe('when it will be done', () => {
  it.each([
    ['in rounds of as many as may be away', [wave()], [[0, 2]]],
    [
      'those under work have a part behind them',
      [wave({ left: 1, working: 1, elapsedMs: 0.75 * minute })],
      [[0, 0.25]],
    ],
    [
      'one wave after another, with the time to look at it',
      [wave({ soakMs: 5 * minute }), wave({ left: 1 })],
      [
        [0, 2],
        [7, 8],
      ],
    ],
  ])('%s', (_, waves, spans) => {
    const found = forecast(waves, minute, 0, always)
    expect(found.map(({ startMs, endMs }) => [startMs / minute, endMs / minute])).toEqual(spans)
  })

  it('work rests while no window is open', () => {
    const [span] = forecast([wave({ left: 24 })], minute, 0, hourly)
    expect(span).toEqual({ startMs: 0, endMs: 62 * minute })
    const [later] = forecast([wave()], minute, 20 * minute, hourly)
    expect(later).toEqual({ startMs: 60 * minute, endMs: 62 * minute })
  })

  it('never ends before it starts, and longer nodes never end it sooner', () => {
    const waves = fc.array(
      fc.record({
        left: fc.nat(50),
        working: fc.nat(3),
        elapsedMs: fc.nat(minute),
        atOnce: fc.integer({ min: 1, max: 9 }),
        soakMs: fc.nat(minute),
      }),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(waves, fc.nat(minute), fc.nat(minute), (some, oneMs, moreMs) => {
        const short = forecast(some, oneMs, 0, hourly)
        const long = forecast(some, oneMs + moreMs, 0, hourly)
        for (const [at, { startMs, endMs }] of short.entries()) {
          expect(endMs).toBeGreaterThanOrEqual(startMs)
          expect(long[at]?.endMs).toBeGreaterThanOrEqual(endMs)
        }
      }),
    )
  })
})

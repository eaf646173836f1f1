import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

describe('durations', () => {
  it.each([
    ['45s', 45_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1h30m', 5_400_000],
    ['1h0m5s', 3_605_000],
    ['90m', 5_400_000],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each(['', '5', '1d', '30m1h', '1.5h', '-5m', ' 5m', '5m ', '5M', '1h1h'])('"%s" is refused by name', (text) => {
    expect(() => parseDuration(text)).toThrow(new RangeError(`"${text}" is not a duration such as 30m or 1h30m`))
  })

  it.each([
    [0, '0s'],
    [999, '0s'],
    [-5_000, '0s'],
    [61_000, '1m1s'],
    [61_999, '1m1s'],
    [3_600_000, '1h'],
    [5_400_000, '1h30m'],
    [3_605_000, '1h5s'],
    [90_000_000, '25h'],
  ])('%i ms reads %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('what is written is read back, to the second', () => {
    fc.assert(
      fc.property(fc.nat(400_000_000), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms - (ms % 1000))
      }),
    )
  })
})

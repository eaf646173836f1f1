import { describe, expect, it } from 'vitest'
import { ageText, clockText, spanText } from './time-text.ts'

describe('times for people', () => {
  it.each([
    [-5, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [130_000, '2m10s'],
    [3_600_000, '1h'],
    [11_100_000, '3h5m'],
    [172_800_000, '2d'],
    [187_200_000, '2d4h'],
  ])('%d ms is %s', (ms, text) => {
    expect(spanText(ms)).toBe(text)
  })

  it('counts from an instant of the API, and shows the time of day in UTC', () => {
    const now = new Date('2026-11-15T12:05:09.500Z')
    expect(ageText('2026-11-15T12:04:00Z', now)).toBe('1m9s')
    expect(ageText(undefined, now)).toBe('')
    expect(clockText(now)).toBe('12:05:09')
  })
})

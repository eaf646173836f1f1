import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCount } from './count.ts'

describe('counts', () => {
  it.each([
    [3, 10, 3],
    [3, 1, 3],
    ['10%', 100, 10],
    ['10%', 19, 1],
    ['10%', 20, 2],
    ['1%', 5, 1],
    ['100%', 7, 7],
    ['50%', 0, 1],
    ['29%', 100, 29],
    ['57%', 100, 57],
  ])('%s of %i is %i', (count, total, resolved) => {
    expect(resolveCount(count, total)).toBe(resolved)
  })

  it('a percentage is the largest whole number not above it, and at least 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.oneof(fc.constant(100), fc.nat(100_000)), (percent, total) => {
        const resolved = resolveCount(`${percent}%`, total)
        expect(resolved).toBeGreaterThanOrEqual(1)
        if (resolved > 1) expect(resolved * 100).toBeLessThanOrEqual(percent * total)
        expect((resolved + 1) * 100).toBeGreaterThan(percent * total)
      }),
    )
  })
})

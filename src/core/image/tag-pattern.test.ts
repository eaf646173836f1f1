import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesPattern, naturalOrder, newestTag, readImageWish } from './tag-pattern.ts'

const digest = `sha256:${'ab'.repeat(32)}`

describe('os.image', () => {
  it.each([
    ['registry.example/os:1.*', { kind: 'pattern', name: 'registry.example/os', pattern: '1.*' }],
    [
      'registry.example:5000/team/os:2026-*',
      { kind: 'pattern', name: 'registry.example:5000/team/os', pattern: '2026-*' },
    ],
    ['registry.example/os:*', { kind: 'pattern', name: 'registry.example/os', pattern: '*' }],
    ['os:*-stable', { kind: 'pattern', name: 'docker.io/library/os', pattern: '*-stable' }],
    ['registry.example/os:1.2', { kind: 'exact', reference: { name: 'registry.example/os', tag: '1.2' } }],
    ['registry.example:5000/os', { kind: 'exact', reference: { name: 'registry.example:5000/os' } }],
    [`registry.example/os@${digest}`, { kind: 'exact', reference: { name: 'registry.example/os', digest } }],
  ])('%s is read', (text, expected) => {
    expect(readImageWish(text)).toEqual(expected)
  })

  it.each([
    ['registry.example/*', 'no tag'],
    ['registry.example/*:1', 'a pattern for a name'],
    ['registry.example/os:1.*:2', 'two tags'],
    [`registry.example/os:1.*@${digest}`, 'a pattern and a digest'],
    ['registry.example/os@sha256:*', 'a pattern for a digest'],
    ['registry.example/os:1 *', 'a blank'],
    ['registry.example/OS:1.*', 'capitals in the path'],
    ['', 'nothing'],
  ])('%s is refused: %s', (text) => {
    expect(readImageWish(text)).toBeUndefined()
  })
})

describe('a pattern', () => {
  it.each([
    ['1.2', '1.2', true],
    ['1.2', '1.20', false],
    ['*', '', true],
    ['a*b', 'ab', true],
    ['ab*b', 'ab', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['**1', '21', true],
    [`${'*a'.repeat(40)}b`, 'a'.repeat(120), false],
  ])('%s and %s: %s', (pattern, tag, expected) => {
    expect(matchesPattern(tag, pattern)).toBe(expected)
  })
})

describe('the newest tag', () => {
  it.each([
    ['1.*', ['1.2', '1.10', '1.9.9', '2.0'], '1.10'],
    ['1.*', ['v1.2'], undefined],
    ['v1.*', ['v1.2', 'v1.10'], 'v1.10'],
    ['*', ['1.0.0', '2.0.0-rc.1', '1.5.0'], '1.5.0'],
    ['2.0.0-*', ['2.0.0-rc.9', '2.0.0-rc.10', '2.0.0'], '2.0.0-rc.10'],
    ['2.*', ['2.0-rc1'], undefined],
    ['*-*', ['1.4.2-1', '1.4.2-2', '1.4.2-10'], '1.4.2-10'],
    ['42.*', ['42.20260101.3.0', '42.20260115.1.0', '41.20270101.3.0'], '42.20260115.1.0'],
    ['1.2*', ['1.2', '1.2.0'], '1.2.0'],
    ['2026-*', ['2026-1-9', '2026-1-10', '2025-12-31'], '2026-1-10'],
    ['2026-*', ['2026-01-15', '2026-01-09'], '2026-01-15'],
    ['*', ['20260101', '20251231'], '20260101'],
    ['*', ['1.0', '1.10', 'b9', 'b10'], 'b10'],
    ['build-*', ['build-9', 'build-10', 'build-'], 'build-10'],
    ['*', ['1.0', `sha256-${'ab'.repeat(32)}.sig`, `sha256-${'cd'.repeat(32)}`], '1.0'],
    ['1.*', [], undefined],
    ['3.*', ['1.0', '2.0'], undefined],
    // A dot is a dot.
    ['1.*', ['1x5', '12.0'], undefined],
  ])('of %s in %j is %s', (pattern, tags, expected) => {
    expect(newestTag(tags, pattern)).toBe(expected)
  })

  const tag = fc.oneof(
    fc.stringMatching(/^v?[0-9]{1,3}(\.[0-9]{1,3}){1,3}(-rc[0-9])?$/),
    fc.stringMatching(/^20[0-9]{2}-[0-9]{1,2}$/),
    fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,8}$/),
  )

  it('is one of those that match, and the same in whatever order they come', () => {
    fc.assert(
      fc.property(fc.uniqueArray(tag, { maxLength: 12 }), fc.constantFrom('*', '1*', '*-*', '20*'), (tags, pattern) => {
        const found = newestTag(tags, pattern)
        if (found !== undefined) expect(tags.filter((one) => matchesPattern(one, pattern))).toContain(found)
        expect(newestTag(tags.toReversed(), pattern)).toBe(found)
        expect(newestTag(tags.toSorted(), pattern)).toBe(found)
      }),
    )
  })

  it('comes of an order: two ways round are opposite, and it can be chained', () => {
    fc.assert(
      fc.property(tag, tag, tag, (a, b, c) => {
        expect(Math.sign(naturalOrder(a, b))).toBe(-Math.sign(naturalOrder(b, a)) + 0)
        if (naturalOrder(a, b) <= 0 && naturalOrder(b, c) <= 0) expect(naturalOrder(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })
})

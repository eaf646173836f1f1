import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprint } from './fingerprint.ts'

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  )
}

describe('a fingerprint', () => {
  it('stays the same from release to release: ids of running operations carry it', () => {
    expect(fingerprint({ kubernetes: { version: 'v1.36.3' } })).toBe('84e4fd4a8989e')
    expect(fingerprint({})).toBe('4f6f35465b825')
  })

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(reversed(value))).toBe(fingerprint(value))
        expect(fingerprint(value)).toMatch(/^[0-9a-f]{13}$/)
      }),
    )
  })

  it('takes an undefined field for none', () => {
    expect(fingerprint({ a: 1, b: undefined })).toBe(fingerprint({ a: 1 }))
    expect(fingerprint({ a: { b: undefined } })).toBe(fingerprint({ a: {} }))
  })

  it('tells different values apart', () => {
    const values: readonly unknown[] = [
      {},
      [],
      null,
      '',
      'a',
      0,
      '0',
      [[]],
      [{}],
      { a: 1 },
      { a: '1' },
      { a: [1] },
      { a: { b: 1 } },
      { a: 1, b: 1 },
      { 'a,b': 1 },
      { a: null },
      ['a', 'b'],
      ['b', 'a'],
      ['ab'],
      ['a,b'],
      'ä',
    ]
    expect(new Set(values.map(fingerprint)).size).toBe(values.length)
  })

  it('tells any two unlike values apart', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(fingerprint({ a }) === fingerprint({ a: b })).toBe(a === b)
      }),
    )
  })

  it('has no collision among many versions', () => {
    const seen = new Set<string>()
    for (let patch = 0; patch < 20_000; patch++) seen.add(fingerprint({ kubernetes: { version: `v1.36.${patch}` } }))
    expect(seen.size).toBe(20_000)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions, minorsBetween, parseVersion, sameVersion, type Version } from './version.ts'

const parsed = (text: string): Version => {
  const version = parseVersion(text)
  if (!version) throw new Error(`${text} does not parse`)
  return version
}

describe('versions', () => {
  it.each([
    ['v1.36.3', { text: 'v1.36.3', major: 1, minor: 36, patch: 3 }],
    ['1.36.3', { text: 'v1.36.3', major: 1, minor: 36, patch: 3 }],
    ['v1.36.0-rc.1', { text: 'v1.36.0-rc.1', major: 1, minor: 36, patch: 0 }],
    ['1.36.3+k3s1', { text: 'v1.36.3+k3s1', major: 1, minor: 36, patch: 3 }],
    ['v1.29.1-gke.1589018', { text: 'v1.29.1-gke.1589018', major: 1, minor: 29, patch: 1 }],
  ])('%s parses', (text, version) => {
    expect(parseVersion(text)).toEqual(version)
  })

  it.each(['', 'v1.36', '1', 'latest', 'v1.36.x', 'v1.36.03', '1.2.3.4', 'x1.2.3'])('"%s" does not parse', (text) => {
    expect(parseVersion(text)).toBeUndefined()
  })

  it('sorts by number, a pre-release before its release, a build after it', () => {
    const sorted = [
      'v1.9.9',
      'v1.36.0-rc.1',
      'v1.36.0-rc.2',
      '1.36.0',
      'v1.36.0+k3s1',
      'v1.36.0+k3s2',
      'v1.36.10',
      'v2.0.0',
    ]
    expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted)
    expect(compareVersions('1.36.3', 'v1.36.3')).toBe(0)
  })

  it.each([
    ['v1.36.3', '1.36.3', true],
    ['v1.36.3', 'v1.36.4', false],
    ['v1.36.3', 'v1.36.3+k3s1', false],
    ['latest', 'latest', false],
  ])('%s and %s are the same: %s', (a, b, same) => {
    expect(sameVersion(a, b)).toBe(same)
  })

  it.each([
    ['v1.35.9', 'v1.36.0', 1],
    ['v1.36.0', 'v1.36.9', 0],
    ['v1.36.0', 'v1.34.0', -2],
    ['v1.36.0', 'v2.0.0', 1000],
    ['v2.0.0', 'v1.99.0', -1000],
  ])('from %s to %s: %i minors', (from, to, minors) => {
    expect(minorsBetween(parsed(from), parsed(to))).toBe(minors)
  })

  it('compares as the numbers do', () => {
    const part = fc.nat(40)
    const triple = fc.tuple(part, part, part)
    fc.assert(
      fc.property(triple, triple, (a, b) => {
        const first = a.findIndex((number, index) => number !== b[index])
        const expected = first === -1 ? 0 : Math.sign((a[first] ?? 0) - (b[first] ?? 0))
        expect(Math.sign(compareVersions(`v${a.join('.')}`, b.join('.')))).toBe(expected)
      }),
    )
  })
})

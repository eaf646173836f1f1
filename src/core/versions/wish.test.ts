import { describe, expect, it } from 'vitest'
import { flavourOf, isPattern, isPreRelease, newestOf, parseWish } from './wish.ts'

describe('what is asked for', () => {
  it.each([
    ['v1.36.3', { kind: 'exact', version: { text: 'v1.36.3' } }],
    ['1.36.3', { kind: 'exact', version: { text: 'v1.36.3' } }],
    ['1.37.0-rc.1', { kind: 'exact', version: { text: 'v1.37.0-rc.1' } }],
    ['v1.36.3+k3s1', { kind: 'exact', version: { text: 'v1.36.3+k3s1' } }],
    ['1.36.*', { kind: 'minor', major: 1, minor: 36, build: undefined }],
    ['v1.36.*+k3s1', { kind: 'minor', major: 1, minor: 36, build: 'k3s1' }],
    ['1.37.0-rc.*', { kind: 'pre-release', major: 1, minor: 37, begins: 'v1.37.0-rc.' }],
    ['latest-patch', { kind: 'latest-patch' }],
    ['latest', { kind: 'latest' }],
    ['1.*', undefined],
    ['1.36', undefined],
    ['newest', undefined],
  ])('%s', (text, wish) => {
    if (wish === undefined) expect(parseWish(text)).toBeUndefined()
    else expect(parseWish(text)).toMatchObject(wish)
  })

  it('is looked for among those on offer unless it is exact', () => {
    expect(['v1.36.3', '1.36.*', 'latest', 'nonsense'].map(isPattern)).toEqual([false, true, true, false])
  })

  it('knows builds and pre-releases', () => {
    expect(['v1.36.3', 'v1.36.3+k3s1', 'v1.36.3+rke2r12', 'v1.36.3+k3s-2'].map(flavourOf)).toEqual([
      '',
      'k3s',
      'rke2r',
      'k3s',
    ])
    expect(['v1.36.3', 'v1.36.3-rc.1', 'v1.36.3+k3s1'].map(isPreRelease)).toEqual([false, true, false])
    expect(newestOf(['v1.36.9+k3s9', 'v1.36.9+k3s10', 'v1.36.10'], (one) => one.includes('+'))).toBe('v1.36.9+k3s10')
  })
})

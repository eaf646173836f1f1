import { describe, expect, it } from 'vitest'
import { fitsVersion, pickVersion } from './match-version.ts'

describe('fitsVersion', () => {
  it.each([
    ['1.36.3-1.1', '1.36.3-1.1', true],
    ['1.36.3-1.1', '1.36.3', true],
    ['1.36.3-1.1', 'v1.36.3', true],
    ['1.36.30-1.1', '1.36.3', false],
    ['1.36.3~rc.1-1.1', '1.36.3', false],
    ['5:24.0.7-1~debian.12~bookworm', '24.0.7', true],
    ['5:24.0.7-1~debian.12~bookworm', '24.0.*', true],
    ['1.7.24~ds1-6', '1.7.24', false],
    ['20.10.24+dfsg1-1+b3', '20.10.24', true],
    ['2.1.4-1', '2.1.*', true],
    ['2.10.4-1', '2.1.*', false],
    ['12.1.4-1', '2.1.*', false],
    ['0:1.36.3-150500.1.1', '1.36.3', true],
    ['0:1.36.3-150500.1.1', '1.36.3-150500.1.1', true],
    ['2x1.4', '2.1*', false],
  ])('%s for %s: %s', (offered, wanted, fits) => {
    expect(fitsVersion(offered, wanted)).toBe(fits)
  })
})

describe('pickVersion', () => {
  const offers = ['1.36.10-1.1', '1.36.3-2.1', '1.36.3-1.1', '1.35.4-1.1']

  it.each([
    ['1.36.3', '1.36.3-2.1'],
    ['1.36.3-1.1', '1.36.3-1.1'],
    ['1.36.*', '1.36.10-1.1'],
    ['1.37.0', undefined],
  ])('%s means %s', (wanted, picked) => {
    expect(pickVersion(offers, wanted)).toBe(picked)
  })
})

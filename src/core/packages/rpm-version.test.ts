import { expect, it } from 'vitest'
import { compareRpmVersions } from './rpm-version.ts'

it.each([
  ['5.14.0-427.13.1.el9_4', '5.14.0-427.9.1.el9_4'],
  ['5.14.0-427.13.1.el9_4', '5.14.0-427.el9'],
  ['5.14.0-10', '5.14.0-9'],
  ['1:1.0-1', '2.0-1'],
  ['1.0-1', '1.0~rc1-1'],
  ['1.0^git1-1', '1.0-1'],
  ['1.0.1-1', '1.0^git1-1'],
  ['1.0.1-1', '1.0a-1'],
  ['1.0b-1', '1.0a-1'],
])('%s comes after %s', (newer, older) => {
  expect(compareRpmVersions(newer, older)).toBeGreaterThan(0)
  expect(compareRpmVersions(older, newer)).toBeLessThan(0)
  expect(compareRpmVersions(newer, newer)).toBe(0)
})

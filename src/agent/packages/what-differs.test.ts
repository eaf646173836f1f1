import { describe, expect, it } from 'vitest'
import type { InstalledPackage } from './package-manager.ts'
import { whatDiffers } from './what-differs.ts'

const staged = {
  manager: 'apt' as const,
  folder: '/f',
  packages: [{ name: 'a', architecture: 'all', version: '2.0', wanted: true, held: true, automatic: false }],
  removals: [{ name: 'gone', previous: '1.0', purge: false }],
  keptBack: [],
}
const here = { name: 'a', version: '2.0', architecture: 'all', held: true, whole: true }
const installed = (...list: readonly InstalledPackage[]) => new Map(list.map((each) => [each.name, each]))

describe('whatDiffers', () => {
  it.each([
    ['a 2.0 is not installed', installed()],
    ['a 2.0 is half-installed', installed({ ...here, whole: false })],
    ['a is at 1.0, not at 2.0', installed({ ...here, version: '1.0' })],
    ['a is not held back', installed({ ...here, held: false })],
    ['gone is still installed', installed(here, { ...here, name: 'gone' })],
    [undefined, installed(here)],
  ])('%s', (differs, status) => {
    expect(whatDiffers(staged, status)).toBe(differs)
  })
})

import { describe, expect, test } from 'vitest'
import { nodeProfile, noState, stateOf } from '../../../../test/samples/profiles.ts'
import type { ProfilePackage } from '../../../api/profile-items.ts'
import { emptyRecord, type ManagedPackage } from '../../../api/profile-record.ts'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import {
  type Installed,
  packageDifference,
  requestFor,
  restoreRequest,
  retiredPackages,
  withPackages,
} from './package-request.ts'

const installed: Installed = new Map(
  [
    { name: 'chrony', version: '4.5-1', held: false, whole: true },
    { name: 'containerd', version: '2.1.4-1', held: true, whole: true },
    { name: 'broken', version: '1.0', held: false, whole: false },
  ].map((one) => [one.name, { ...one, architecture: 'amd64' }]),
)
const state = (...packages: ProfilePackage[]) => stateOf(nodeProfile('base', { packages }))

describe('packages of a profile', () => {
  const cases: readonly { wanted: ProfilePackage; says?: string; asks?: object }[] = [
    { wanted: { name: 'chrony' } },
    { wanted: { name: 'chrony', version: '4.*' } },
    { wanted: { name: 'containerd', version: '2.1.*', hold: true } },
    { wanted: { name: 'telnetd', state: 'Absent' } },
    { wanted: { name: 'htop' }, says: 'is not installed', asks: { name: 'htop' } },
    { wanted: { name: 'broken' }, says: 'half-installed', asks: { name: 'broken' } },
    {
      wanted: { name: 'containerd', version: '2.2.*', hold: true },
      says: 'is at 2.1.4-1, not at 2.2.*',
      asks: { name: 'containerd', version: '2.2.*', hold: true },
    },
    // A hold alone is no reason to upgrade.
    {
      wanted: { name: 'chrony', hold: true },
      says: 'is not held back',
      asks: { name: 'chrony', version: '4.5-1', hold: true },
    },
  ]
  test.each(cases)('$wanted: $says', ({ wanted, says, asks }) => {
    const target = state(wanted)
    const difference = packageDifference(target.packages[0]!, installed)
    if (says === undefined) expect(difference).toBeUndefined()
    else expect(difference).toContain(says)
    expect(requestFor(target, installed)).toEqual({ wanted: asks ? [asks] : [], unwanted: [] })
  })

  test('that are to be absent go, their configuration stays', () => {
    const target = state({ name: 'chrony', state: 'Absent' })
    expect(requestFor(target, installed)).toEqual({ wanted: [], unwanted: [{ name: 'chrony', purge: false }] })
  })
})

describe('packages that no profile wants any more', () => {
  const managed = (name: string, part: Partial<ManagedPackage> = {}): ManagedPackage => ({
    name,
    whenRemoved: 'Restore',
    wanted: true,
    ...part,
  })
  const record = (...packages: ManagedPackage[]) => ({ ...emptyRecord, packages })

  test('go without a trace where they were added, and back to the old version where they were changed', () => {
    const retired = [
      managed('chrony'),
      managed('containerd', { prior: { version: '2.0.0-1', held: false } }),
      managed('kept', { whenRemoved: 'Keep' }),
    ]
    expect(restoreRequest(retired, installed)).toEqual({
      wanted: [{ name: 'containerd', version: '2.0.0-1', hold: false }],
      unwanted: [{ name: 'chrony', purge: true }],
    })
  })

  test('take what came along only with the last of them', () => {
    const both = record(managed('chrony'), managed('htop'), managed('libfoo', { wanted: false }))
    const names = (state: Parameters<typeof retiredPackages>[1]) => retiredPackages(both, state).map(({ name }) => name)
    expect(names(state({ name: 'chrony' }))).toEqual(['htop'])
    expect(names(noState)).toEqual(['chrony', 'htop', 'libfoo'])
  })
})

describe('withPackages', () => {
  const one = { architecture: 'amd64', held: false, automatic: false, sha256: 'a'.repeat(64), bytes: 1 }
  const staged: StagedPackages = {
    manager: 'apt',
    folder: '/x',
    packages: [
      { ...one, name: 'htop', version: '3', file: '/x/htop', wanted: true },
      { ...one, name: 'libfoo', version: '1', file: '/x/libfoo', wanted: false },
      { ...one, name: 'chrony', version: '4.6', previous: '4.5-1', file: '/x/chrony', wanted: true },
    ],
    removals: [],
    keptBack: [],
  }
  const target = state({ name: 'htop' }, { name: 'chrony', version: '4.6' })

  test('remembers how each was found, and keeps that', () => {
    const once = withPackages(emptyRecord, staged, target, installed)
    expect(once.packages).toEqual([
      { name: 'htop', whenRemoved: 'Restore', wanted: true },
      { name: 'libfoo', whenRemoved: 'Restore', wanted: false },
      { name: 'chrony', whenRemoved: 'Restore', wanted: true, prior: { version: '4.5-1', held: false } },
    ])
    expect(withPackages(once, staged, target, new Map())).toBe(once)
  })

  test('leaves out what was repaired along and keeps its version and its hold', () => {
    const lib = { ...one, name: 'lib', version: '2.0-1', previous: '2.0-1', file: '/x/lib', wanted: false }
    const twice: Installed = new Map([
      ['lib', { name: 'lib', version: '2.0-1', held: false, whole: false, architecture: 'amd64' }],
    ])
    const prior = { version: '2.0-1', held: false }
    const managed = (part: Partial<typeof lib>, wish = target) =>
      withPackages(emptyRecord, { ...staged, packages: [{ ...lib, ...part }] }, wish, twice).packages
    expect(managed({})).toEqual([])
    expect(managed({ version: '3.0-1' })).toEqual([{ name: 'lib', whenRemoved: 'Restore', wanted: false, prior }])
    expect(managed({ held: true })).toEqual([{ name: 'lib', whenRemoved: 'Restore', wanted: false, prior }])
    expect(managed({ wanted: true }, state({ name: 'lib' }))).toEqual([
      { name: 'lib', whenRemoved: 'Restore', wanted: true, prior },
    ])
  })
})

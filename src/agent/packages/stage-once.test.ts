import { expect, it } from 'vitest'
import { FakeHost } from '../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../test/fakes/memory-disk.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import { folderNotes } from '../journal/notes.ts'
import { aptPackageManager } from './apt/apt-package-manager.ts'
import { heldAs } from './held-as.ts'
import type { InstalledPackage, PackageManager } from './package-manager.ts'
import { stageOnce } from './stage-once.ts'

const signal = new AbortController().signal

/** A host where a 1.0 and b 1.0 are installed and 2.0 is on offer; what is held is kept back. */
function machine(holds: ReadonlyMap<string, boolean> = new Map()) {
  const host = new FakeHost(new MemoryDisk(), new ManualClock())
  const notes = folderNotes(host.disk, '/notes')
  const warnings: string[] = []
  const warn = (message: string) => Promise.resolve(void warnings.push(message))
  let held: readonly string[] = []
  let stagings = 0
  let isAway = false
  const here = (name: string): InstalledPackage => ({
    ...{ name, version: '1.0', architecture: 'all', held: held.includes(name), whole: true },
  })
  const manager: PackageManager = {
    ...aptPackageManager(host),
    installed: (names) => Promise.resolve(new Map([...names].map((name) => [name, here(name)]))),
  }
  const stage = () => {
    stagings += 1
    if (isAway) return Promise.reject(new Error('the repository is away'))
    const packages = ['a', 'b'].flatMap((name) => {
      const { version: previous, architecture, held: isHeld } = here(name)
      const asked = { wanted: false, ...heldAs({ held: isHeld }, holds.get(name)), automatic: false }
      return isHeld ? [] : [{ name, architecture, version: '2.0', previous, ...asked }]
    })
    const staged: StagedPackages = { manager: 'apt', folder: '/s', packages, removals: [], keptBack: [...held] }
    return Promise.resolve({ ok: true, staged } as const)
  }
  return {
    hold: (names: readonly string[]) => {
      held = names
    },
    stagings: () => stagings,
    goAway: (away: boolean) => {
      isAway = away
    },
    staged: async () => {
      const wish = { note: 'packages', answers: () => true, stage }
      const result = await stageOnce({ host, notes, warn }, manager, wish, signal)
      return result.ok ? result.staged.packages.map(({ name }) => name) : undefined
    },
  }
}

it('what was staged is not staged again while nobody changed the host', async () => {
  const host = machine()
  host.hold(['b'])
  expect(await host.staged()).toEqual(['a'])
  expect(await host.staged()).toEqual(['a'])
  expect(host.stagings()).toBe(1)
})

it('a package that a person holds meanwhile is kept back', async () => {
  const host = machine()
  expect(await host.staged()).toEqual(['a', 'b'])
  host.hold(['b'])
  expect(await host.staged()).toEqual(['a'])
  host.hold(['a', 'b'])
  expect(await host.staged()).toEqual([])
  expect(host.stagings()).toBe(3)
})

it('a package that is to be held in the end is not staged again for that', async () => {
  const host = machine(new Map([['a', true]]))
  expect(await host.staged()).toEqual(['a', 'b'])
  expect(await host.staged()).toEqual(['a', 'b'])
  expect(host.stagings()).toBe(1)
})

it('what was staged before a staging that failed is not taken for whole', async () => {
  const host = machine()
  await host.staged()
  host.hold(['b'])
  host.goAway(true)
  await expect(host.staged()).rejects.toThrow('away')
  host.hold([])
  host.goAway(false)
  expect(await host.staged()).toEqual(['a', 'b'])
  expect(host.stagings()).toBe(3)
  expect(await host.staged()).toEqual(['a', 'b'])
  expect(host.stagings()).toBe(3)
})

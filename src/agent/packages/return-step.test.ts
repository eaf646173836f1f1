import { describe, expect, it } from 'vitest'
import { FakeHost } from '../../../test/agent/fake-host.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { MemoryDisk } from '../../../test/fakes/memory-disk.ts'
import type { StagedPackages } from '../../api/staged-packages.ts'
import type { Host } from '../../ports/host.ts'
import { silentLog } from '../../sim/silent-log.ts'
import type { StepContext } from '../drivers/driver.ts'
import { folderContent, folderNotes } from '../journal/notes.ts'
import { aptPackageManager } from './apt/apt-package-manager.ts'
import type { PackageManager } from './package-manager.ts'
import { sourcesOf } from './package-sources.ts'
import { returnStep, stageReturn } from './return-step.ts'

const signal = new AbortController().signal
const order: StepContext['order'] = {
  id: 'u-1',
  update: 'u',
  nodeUID: 'n',
  epoch: 1,
  role: 'Worker',
  offline: 'Refused',
  desired: 'Run',
  rollback: 'All',
  timeout: '30m',
  work: { os: { packages: 'All' } },
}
const staged: StagedPackages = {
  manager: 'apt',
  folder: '/s/packages',
  packages: [
    {
      name: 'a',
      architecture: 'all',
      version: '2.0',
      previous: '1.0',
      file: '/s/packages/archives/a.deb',
      sha256: 'a'.repeat(64),
      bytes: 1,
      wanted: true,
      held: false,
      automatic: false,
    },
  ],
  removals: [],
  keptBack: [],
}
const step = returnStep({ name: 'return-packages', note: 'packages', disruptive: true })

function contextOf(): StepContext & { readonly warnings: string[] } {
  const host = new FakeHost(new MemoryDisk(), new ManualClock())
  const warnings: string[] = []
  return {
    host,
    order,
    nodeName: 'n1',
    log: silentLog,
    notes: folderNotes(host.disk, '/notes'),
    content: folderContent(host.disk, '/content'),
    stagingFolder: '/s',
    begunInBoot: undefined,
    warnings,
    warn: (message) => {
      warnings.push(message)
      return Promise.resolve()
    },
  }
}

/** A package manager whose repositories have forgotten the old version. */
const forgetful = (host: Host): PackageManager => ({
  ...aptPackageManager(host),
  stageReturn: () =>
    Promise.resolve({ ok: false, reason: { code: 'VersionUnknown', message: 'they do not offer a 1.0' } }),
})

const changedFrom = (previous: string): StagedPackages => ({
  ...staged,
  packages: staged.packages.map((one) => ({ ...one, previous })),
})

/** A host with every package at this version, whose repositories offer it. */
function offering(version: string) {
  let here = version
  let stagings = 0
  const manager = (host: Host): PackageManager => ({
    ...aptPackageManager(host),
    installed: (names) => {
      const one = { version: here, architecture: 'all', held: false, whole: true }
      return Promise.resolve(new Map([...names].map((name) => [name, { name, ...one }])))
    },
    stageReturn: ({ packages }, { folder }) => {
      stagings += 1
      const back = packages.map(({ name, architecture, version: previous, previous: before = '' }) => ({
        ...{ name, architecture, version: before, previous, wanted: true, held: false, automatic: false },
      }))
      return Promise.resolve({
        ok: true,
        staged: { manager: 'apt', folder, packages: back, removals: [], keptBack: [] },
      })
    },
  })
  return {
    manager,
    stagings: () => stagings,
    bringTo: (other: string) => {
      here = other
    },
  }
}

describe('the way back', () => {
  it('that was not found while the node worked is not asked for again', async () => {
    const context = contextOf()
    await context.notes.write('packages', staged)
    const sources = sourcesOf(context, forgetful(context.host))
    await stageReturn(context, forgetful(context.host), 'packages', sources, signal)
    const silent = (host: Host): PackageManager => ({
      ...aptPackageManager(host),
      stageReturn: () => Promise.reject(new Error('the repository is away')),
    })
    expect(await stageReturn(context, silent(context.host), 'packages', sources, signal)).toBeUndefined()
  })

  it('is warned about when the old versions are not on offer, and fails when it is wanted', async () => {
    const context = contextOf()
    await context.notes.write('packages', staged)
    expect(await stageReturn(context, forgetful(context.host), 'packages', { from: 'Host' }, signal)).toBeUndefined()
    expect(context.warnings).toEqual(['these packages cannot be rolled back: they do not offer a 1.0'])
    expect(await step.holds?.(context, signal)).toBe(false)
    expect((await step.argv(context, signal)).join(' ')).toContain('exit 1')
  })

  it('is none where the one that was staged leads from other packages than are to be changed now', async () => {
    const context = contextOf()
    const debian = offering('1.0')
    await context.notes.write('packages', staged)
    await stageReturn(context, debian.manager(context.host), 'packages', { from: 'Host' }, signal)
    // Somebody brought the package to 1.1, and 2.0 was staged anew; 1.1 was never on offer.
    debian.bringTo('1.1')
    await context.notes.write('packages', changedFrom('1.1'))
    const none = { ...debian.manager(context.host), stageReturn: forgetful(context.host).stageReturn }
    expect(await stageReturn(context, none, 'packages', { from: 'Host' }, signal)).toBeUndefined()
    expect(context.warnings).toEqual([expect.stringContaining('cannot be rolled back')])
    expect(await step.holds?.(context, signal)).toBe(false)
    expect((await step.argv(context, signal)).join(' ')).toContain('exit 1')
  })

  it('is staged anew where more is to be changed than it leads back from', async () => {
    const context = contextOf()
    const debian = offering('1.0')
    await context.notes.write('packages', staged)
    await stageReturn(context, debian.manager(context.host), 'packages', { from: 'Host' }, signal)
    const [a] = staged.packages
    await context.notes.write('packages', { ...staged, packages: [a, { ...a, name: 'b' }] })
    await stageReturn(context, debian.manager(context.host), 'packages', { from: 'Host' }, signal)
    expect(debian.stagings()).toBe(2)
    await stageReturn(context, debian.manager(context.host), 'packages', { from: 'Host' }, signal)
    expect(debian.stagings()).toBe(2)
  })

  it('is not staged unless the order asks for it', async () => {
    const context = { ...contextOf(), order: { ...order, rollback: 'Image' as const } }
    await context.notes.write('packages', staged)
    expect(await stageReturn(context, forgetful(context.host), 'packages', { from: 'Host' }, signal)).toBeUndefined()
    expect(context.warnings).toEqual([])
  })

  it('is there already when nothing was changed', async () => {
    expect(await step.holds?.(contextOf(), signal)).toBe(true)
    const context = contextOf()
    await context.notes.write('packages', { ...staged, packages: [] })
    expect(await step.holds?.(context, signal)).toBe(true)
  })
})

describe('sourcesOf', () => {
  it('takes the host’s repositories, or the bundle and nothing else', () => {
    const files = [{ path: '/etc/apt/sources.list.d/x.list', content: 'deb http://h /\n' }]
    expect(sourcesOf({ order, stagingFolder: '/s' }, { kind: 'apt' }, files)).toEqual({ from: 'Host', with: files })
    const bundled = { ...order, work: { ...order.work, bundle: { url: '/b.tar', sha256: 'a'.repeat(64) } } }
    expect(sourcesOf({ order: bundled, stagingFolder: '/s' }, { kind: 'apt' }, files)).toEqual({
      from: 'Folder',
      folder: '/s/bundle/packages/deb',
    })
    expect(sourcesOf({ order: bundled, stagingFolder: '/s' }, { kind: 'dnf' })).toMatchObject({
      folder: '/s/bundle/packages/rpm',
    })
  })
})

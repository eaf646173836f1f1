import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { doubledRpms } from '../../../../test/agent/doubled-rpms.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { nodeProfile, stateOf } from '../../../../test/samples/profiles.ts'
import type { DesiredState } from '../../../api/desired-state.ts'
import type { NodeProfileSpec } from '../../../api/node-profile.ts'
import type { Order } from '../../../api/node-state.ts'
import { emptyRecord, type ProfileRecord } from '../../../api/profile-record.ts'
import { readStaged } from '../../packages/staged-note.ts'
import { Turn } from '../../turn.ts'
import { packagesStep, stagePackages } from './package-work.ts'
import { recordShelf } from './record.ts'
import { whyDrain } from './undrained.ts'

const note = 'profile-packages'
const stateDir = '/var/lib/slipway'
const state = (...packages: NonNullable<NodeProfileSpec['packages']>) => stateOf(nodeProfile('base', { packages }))
const asWanted = state({ name: 'htop' }, { name: 'chrony', version: '4.5' })
const asStaged = { architecture: 'amd64', wanted: true, held: false, automatic: false }
const earlierNote = (one: object) => ({ manager: 'apt', folder: '/s', packages: [one], removals: [], keptBack: [] })

/** A Debian host with htop and chrony, whose repositories are away; another's dpkg is at work there. */
async function debian() {
  const bench = new StepBench(scriptOrder())
  const installed = new Map([
    ['htop', 'htop\t3.0-1\tamd64\tinstall\tok\tinstalled'],
    ['chrony', 'chrony\t4.5-1\tamd64\tinstall\tok\tinstalled'],
  ])
  const repositories = { said: 'E: Failed to fetch http://deb.example: connection refused' }
  bench.answers({
    'rm -rf': '',
    'mkdir -p': '',
    'dpkg --print-architecture': 'amd64\n',
    'dpkg-query --show': () => `${[...installed.values()].join('\n')}\n`,
    'dpkg --audit': 'The following packages are only half configured:\n man-db\n',
    update: () => ({ exitCode: repositories.said === '' ? 0 : 100, stderr: repositories.said }),
  })
  await bench.put('/usr/bin/apt-get', '')
  await bench.put('/var/lib/dpkg/status', '')
  const record = recordShelf(bench.host.disk, stateDir)
  const staged = (target = asWanted, known: ProfileRecord = emptyRecord) =>
    stagePackages(bench.context, { note, target, record: known }, bench.signal)
  const stepFor = (target = asWanted) =>
    packagesStep(
      { name: 'profile-packages', note, turn: new Turn() },
      ({ host }) => ({ host, record, open: () => Promise.resolve('') }),
      () => Promise.resolve(target),
    )
  return { bench, installed, repositories, staged, stepFor }
}

describe('packages of a profile', () => {
  it('that are there already need neither a repository nor a job, whatever dpkg is busy with', async () => {
    const { bench, staged, stepFor } = await debian()
    expect(await staged()).toBeUndefined()
    const step = stepFor()
    expect(await step.holds?.(bench.context, bench.signal)).toBe(true)
    expect(await step.missing?.(bench.context, bench.signal)).toBeUndefined()
    expect(await step.argv(bench.context, bench.signal)).toEqual(['true'])
  })

  it('are staged where somebody took one away after they were found to be there', async () => {
    const { installed, staged } = await debian()
    expect(await staged()).toBeUndefined()
    installed.delete('htop')
    await expect(staged()).rejects.toThrow('cannot read the package repositories')
  })

  it('are staged anew where somebody took one away beside those that were staged', async () => {
    const { bench, installed, staged } = await debian()
    installed.set('chrony', 'chrony\t4.4-1\tamd64\tinstall\tok\tinstalled')
    const chrony = { ...asStaged, name: 'chrony', version: '4.5-1', previous: '4.4-1' }
    await bench.context.notes.write(note, earlierNote(chrony))
    expect(await staged()).toBeUndefined()
    installed.delete('htop')
    await expect(staged()).rejects.toThrow('cannot read the package repositories')
  })

  it('that somebody brought to what is wanted since they were staged are left alone', async () => {
    const { bench, staged, stepFor } = await debian()
    await bench.context.notes.write(note, earlierNote({ ...asStaged, name: 'htop', version: '3.0-0' }))
    expect(await staged()).toBeUndefined()
    const step = stepFor()
    expect(await step.holds?.(bench.context, bench.signal)).toBe(true)
    expect(await step.argv(bench.context, bench.signal)).toEqual(['true'])
  })

  const prior = { version: '4.4-1', held: false }
  const known: ProfileRecord = {
    ...emptyRecord,
    packages: [{ name: 'chrony', whenRemoved: 'Restore', prior, wanted: true }],
  }

  it('that cannot be put back are asked for once', async () => {
    const { bench, repositories, staged } = await debian()
    // They are there, and offer no chrony of any version.
    repositories.said = ''
    expect(await staged(state({ name: 'htop' }), known)).toBeUndefined()
    expect(bench.warnings).toEqual([expect.stringMatching(/^packages cannot be put back/)])
    repositories.said = 'E: Failed to fetch http://deb.example: connection refused'
    expect(await staged(state({ name: 'htop' }), known)).toBeUndefined()
  })

  it('that cannot be put back as things are stay asked for', async () => {
    const { bench, repositories, staged } = await debian()
    repositories.said = 'E: The repository is not signed'
    expect(await staged(state({ name: 'htop' }), known)).toMatchObject({ code: 'RepositoryUntrusted' })
    expect(bench.warnings).toEqual([])
    repositories.said = 'E: Failed to fetch http://deb.example: connection refused'
    await expect(staged(state({ name: 'htop' }), known)).rejects.toThrow('cannot read the package repositories')
  })
})

describe('packages that an interrupted dnf left twice', () => {
  const once = ['lib 1:2.0-1', 'lib 1:1.0-1', 'runc 0:1.2-1', 'runc 0:1.1-1', 'tool 0:1.0-1']
  const rows = [...once, 'containerd.io 0:2.1-1', 'containerd.io 0:2.0-1']
  const reinstalls = (specs: string) =>
    ['lib_1:2.0-1', 'runc_0:1.2-1'].filter((file) => specs.includes(`${file.split('_')[0]}-`))
  const profile = {
    profiles: ['base'],
    desired: { configMap: 'base', namespace: 'slipway-system', sha256: 'a'.repeat(64) },
  }

  async function stagedFor(target: DesiredState, work: Order['work']) {
    const bench = await doubledRpms({ reinstalls, rows }, scriptOrder({ work }))
    expect(await stagePackages(bench.context, { note, target, record: emptyRecord }, bench.signal)).toBeUndefined()
    const staged = await readStaged(bench.context.notes, note)
    return { names: staged?.packages.map(({ name }) => name), warnings: bench.warnings }
  }
  const undrained = { profile: { ...profile, undrained: { mayDisturb: [] } } }
  const runtime = expect.stringMatching(/ of containerd\.io, which only work on these packages repairs$/)

  it('stay so on a node at work, and are named', async () => {
    const { names, warnings } = await stagedFor(state({ name: 'tool', version: '2.0' }), undrained)
    expect(names).toEqual(['tool'])
    expect(warnings).toEqual([
      runtime,
      expect.stringMatching(/ of lib, runc, which only work on a drained node repairs$/),
    ])
  })

  it('are repaired on a node at work where the profile asks for them', async () => {
    const { names, warnings } = await stagedFor(state({ name: 'lib' }), undrained)
    expect(names).toEqual(['lib'])
    expect(warnings).toEqual([runtime, expect.stringMatching(/ of runc, which only work on a drained node repairs$/)])
  })

  it('are repaired on a drained node', async () => {
    const { names, warnings } = await stagedFor(state({ name: 'tool', version: '2.0' }), { profile })
    expect(names).toEqual(['lib', 'runc', 'tool'])
    expect(warnings).toEqual([runtime, expect.stringMatching(/ of lib, runc, which this work repairs along$/)])
  })

  it.each([
    [undrained, 'DrainNeeded'],
    [{ profile: { ...profile, undrained: { mayDisturb: ['base'] } } }, undefined],
    [{ profile }, undefined],
  ])('wait for a drain where the profile asks for what disturbs the node: %j, %s', async (work, code) => {
    const order = scriptOrder({ work })
    const { host, signal } = await doubledRpms({ reinstalls, rows }, order)
    const site = { host, record: recordShelf(host.disk, stateDir), open: () => Promise.resolve('') }
    expect((await whyDrain(site, order, state({ name: 'runc' }), signal))?.code).toBe(code)
  })
})

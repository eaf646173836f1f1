import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { nodeProfile, stateOf } from '../../../../test/samples/profiles.ts'
import type { NodeProfileSpec } from '../../../api/node-profile.ts'
import { emptyRecord, type ProfileRecord } from '../../../api/profile-record.ts'
import { Turn } from '../../turn.ts'
import { packagesStep, stagePackages } from './package-work.ts'
import { recordShelf } from './record.ts'

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

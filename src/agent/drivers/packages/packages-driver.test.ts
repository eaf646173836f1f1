import { expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import { readMark, readStaged, writeMark } from '../../packages/staged-note.ts'
import { packagesDriver } from './packages-driver.ts'

const staged = {
  manager: 'apt',
  folder: '/s',
  packages: [
    {
      name: 'htop',
      architecture: 'amd64',
      version: '3.0-1',
      previous: '2.0-1',
      wanted: true,
      held: false,
      automatic: false,
    },
  ],
  removals: [],
  keptBack: [],
}

/** Debian with an upgrade staged, for which there is no way back. */
async function debian(version: string) {
  const bench = new StepBench(scriptOrder({ rollback: 'All', work: { os: { packages: 'All' } } }))
  bench.answers({
    'rm -rf': '',
    'mkdir -p': '',
    'print-architecture': 'amd64\n',
    'dpkg-query': `htop\t${version}\tamd64\tinstall\tok\tinstalled\n`,
    'apt-get': '',
    'apt-mark': '',
    'apt-cache': '',
    dpkg: '',
  })
  for (const path of ['/usr/bin/apt-get', '/var/lib/dpkg/status']) await bench.put(path, '')
  await bench.context.notes.write('packages', staged)
  await writeMark(bench.context.notes, 'packages-return', 'Impossible')
  return bench
}

it('a way back that there was none of is looked for again where an upgrade was staged anew', async () => {
  const bench = await debian('2.1-1')
  expect(await packagesDriver.stage?.(bench.context, bench.signal)).toBeUndefined()
  expect(await readStaged(bench.context.notes, 'packages-return')).toBeDefined()
})

it('a way back that there was none of is not looked for again where nothing else was staged', async () => {
  const bench = await debian('2.0-1')
  expect(await packagesDriver.stage?.(bench.context, bench.signal)).toBeUndefined()
  expect(bench.ran.filter((words) => words.includes('apt-get'))).toEqual([])
  expect(await readMark(bench.context.notes, 'packages-return')).toBe('Impossible')
})

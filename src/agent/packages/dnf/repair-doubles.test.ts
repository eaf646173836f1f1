import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import {
  all,
  type DoubledRpms,
  type Failure,
  doubledRpms as machine,
  newTool,
  offering,
} from '../../../../test/agent/doubled-rpms.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { UnwantedPackage, WantedPackage } from '../package-manager.ts'
import { dnfPackageManager } from './dnf-package-manager.ts'

const folder = '/staging/dnf'

function stage(
  { host, signal }: StepBench,
  wanted: readonly WantedPackage[],
  unwanted: readonly UnwantedPackage[] = [],
) {
  return dnfPackageManager(host, 'dnf').stage({ folder, sources: { from: 'Host' }, wanted, unwanted }, signal)
}

const needed = { exitCode: 1, stderr: 'error: Failed dependencies:\n\tlib = 1.0 is needed by (installed) tool-1.0-1' }
const ofLib = (failure: Failure) => (words: string) => (words.includes('lib') ? failure : undefined)
const kubelet = { name: 'kubelet', version: '1.36.3' }

describe('packages that an interrupted transaction left twice', () => {
  it('are fetched again and repaired by the job, whoever asked for them', async () => {
    const bench = await machine({ reinstalls: offering(['kubelet', 'lib']) })
    const result = await stage(bench, [kubelet])
    if (!result.ok) throw new Error(result.reason.message)
    expect(result.staged.packages).toMatchObject([
      { name: 'kubelet', version: '1.36.3-1', previous: '1.36.3-1', wanted: true, file: expect.any(String) },
      { name: 'lib', version: '1:2.0-1', previous: '1:2.0-1', wanted: false, file: expect.any(String) },
    ])
    expect(await bench.host.files.read(`${folder}/plan/doubled`)).toBe('kubelet\nlib\n')
    const asked = bench.ran.filter((words) => words.includes('--downloadonly reinstall') || words.includes('rpm -U'))
    expect(asked.join('\n')).not.toContain('kernel')
    expect(bench.ran).toContainEqual(
      expect.stringMatching(/ reinstall kubelet-1\.36\.3-1\.x86_64 lib-1:2\.0-1\.x86_64$/),
    )
    expect(asked.at(-1)).toMatch(/^rpm -U --test --oldpackage --replacepkgs --replacefiles .*kubelet.* .*lib/)
  })

  it('keep the version that is asked for, be it the older one', async () => {
    const bench = await machine({ reinstalls: () => ['kubelet_0:1.35.4-1'] })
    const result = await stage(bench, [{ name: 'kubelet', version: '1.35.4' }])
    expect(result).toMatchObject({ ok: true, staged: { packages: [{ name: 'kubelet', version: '1.35.4-1' }] } })
    expect(bench.ran).toContainEqual(expect.stringContaining(' reinstall kubelet-1.35.4-1.x86_64'))
  })

  it.each([
    ['are on offer no more', offering(['lib'])],
    ['cannot be had with the others', (specs: string) => (specs.includes('kubelet') ? [] : ['lib_1:2.0-1'])],
  ])('are refused while the node still works where they are asked for and %s', async (_, reinstalls) => {
    const result = await stage(await machine({ reinstalls }), [kubelet])
    const message = expect.stringMatching(/ of kubelet, .*"dnf check".*"dnf remove --duplicates --disableexcludes=all"/)
    expect(result).toEqual({ ok: false, reason: { code: 'PackagesBroken', message } })
  })

  it('are refused where rpm says that the job could not do it', async () => {
    const bench = await machine({ reinstalls: offering(['kubelet', 'lib']), rpmTest: () => needed })
    const message = expect.stringMatching(/ of kubelet, .*lib = 1\.0 is needed by/s)
    expect(await stage(bench, [kubelet])).toEqual({ ok: false, reason: { code: 'PackagesBroken', message } })
  })

  it.each<[string, Omit<DoubledRpms, 'reinstalls'>]>([
    ['rpm says that the job could not repair', { rpmTest: ofLib(needed) }],
    [
      'are signed by nobody',
      { download: ofLib({ exitCode: 1, stderr: 'Package lib-2.0-1.x86_64.rpm is not signed\n' }) },
    ],
    ['find no room', { download: ofLib({ exitCode: 1, stderr: 'No space left on device\n' }) }],
    [
      'cannot be fetched',
      { download: ofLib({ exitCode: 1, stderr: 'Status code: 404 for http://far/lib-2.0-1.rpm\n' }) },
    ],
  ])('and that nobody asked for stay where they %s, and the others are repaired', async (_, given) => {
    const tool = { name: 'tool', version: '2.0' }
    const bench = await machine({ reinstalls: offering(['kubelet', 'lib']), ...given })
    const result = await stage(bench, [kubelet, tool])
    if (!result.ok) throw new Error(result.reason.message)
    expect(result.staged.packages.map(({ name }) => name)).toEqual(['kubelet', 'tool'])
    expect(await bench.host.files.read(`${folder}/plan/doubled`)).toBe('kubelet\n')
    expect(await bench.host.files.names(`${folder}/archives`)).toEqual([`${all.kubelet}.rpm`, `${newTool}.rpm`])
    const alone = await machine({ reinstalls: offering(['kubelet', 'lib']), locks: 'kubelet-0:1.36.3-1.*\n', ...given })
    expect(await stage(alone, [tool])).toMatchObject({ ok: true, staged: { packages: [{ name: 'tool' }] } })
    expect(await alone.host.files.read(`${folder}/plan/doubled`)).toBe('')
    expect(await alone.host.files.names(`${folder}/archives`)).toEqual([`${newTool}.rpm`])
  })

  it.each<[string, DoubledRpms, readonly UnwantedPackage[]]>([
    ['are on offer no more', { reinstalls: () => [] }, []],
    ['a person holds back', { reinstalls: offering(['lib']), locks: 'kubelet-0:1.36.3-1.*\nlib-1:2.0-1.*\n' }, []],
    ['are to be removed', { reinstalls: () => [], locks: 'kubelet-0:1.36.3-1.*\n' }, [{ name: 'lib', purge: false }]],
  ])('and that nobody asked for stay where they %s', async (_, given, unwanted) => {
    const bench = await machine(given)
    const { host, signal } = bench
    const { run } = host
    host.run = (command) =>
      command.argv.includes('remove')
        ? Promise.resolve({ exitCode: 1, stdout: '', stderr: 'Operation aborted.' })
        : run.call(host, command)
    const result = await dnfPackageManager(host, 'dnf').stage(
      { folder, sources: { from: 'Host' }, wanted: [{ name: 'tool', version: '1.0' }], unwanted },
      signal,
    )
    expect(result).toMatchObject({ ok: true, staged: { packages: [{ name: 'tool' }] } })
    expect(await host.files.read(`${folder}/plan/doubled`)).toBe('')
  })

  it('and that nobody asked for stay where other work chooses their version, as that of the kubelet', async () => {
    const bench = await machine({ reinstalls: offering(['kubelet', 'lib']) })
    const result = await stage(bench, [{ name: 'tool', version: '2.0' }])
    if (!result.ok) throw new Error(result.reason.message)
    expect(result.staged.packages.map(({ name }) => name)).toEqual(['lib', 'tool'])
    expect(await bench.host.files.read(`${folder}/plan/doubled`)).toBe('lib\n')
    // Nor may the repair of another bring it along.
    expect(bench.ran).toContainEqual(expect.stringMatching(/ reinstall --exclude=kubelet lib-1:2\.0-1\.x86_64$/))
    expect(result.warnings).toEqual([
      expect.stringMatching(/ of kubelet, which only work on these packages repairs$/),
      expect.stringMatching(/ of lib, which this work repairs along$/),
    ])
  })

  it('and that nobody asked for stay where a person may have installed them side by side', async () => {
    const rows = ['jdk 0:17-1', 'jdk 0:21-1', 'lib 1:2.0-1', 'lib 1:1.0-1', 'tool 0:1.0-1']
    const reinstalls = (specs: string) =>
      ['jdk_0:21-1', all.lib].filter((file) => specs.includes(`${file.slice(0, 3)}-`))
    const bench = await machine({ reinstalls, rows, sideBySide: ['jdk'] })
    const result = await stage(bench, [{ name: 'tool', version: '2.0' }])
    if (!result.ok) throw new Error(result.reason.message)
    expect(result.staged.packages.map(({ name }) => name)).toEqual(['lib', 'tool'])
    expect(bench.ran).toContainEqual(expect.stringMatching(/ reinstall --exclude=jdk lib-1:2\.0-1\.x86_64$/))
    expect(result.warnings).toEqual([expect.stringMatching(/ of lib, which this work repairs along$/)])
    const asked = await stage(await machine({ reinstalls, rows, sideBySide: ['jdk'] }), [{ name: 'jdk' }])
    expect(asked).toMatchObject({ ok: true, staged: { packages: [{ name: 'jdk' }, { name: 'lib' }] } })
  })
})

it('an rpm database that cannot be read is refused while the node still works, with what a person can do', async () => {
  const bench = new StepBench(scriptOrder())
  const said = 'error: cannot open Packages database in /var/lib/rpm\n'
  bench.answers({
    ...{ 'dnf --version': '4.14.0\n', 'rm -rf': '', 'mkdir -p': '', 'rpm --eval': 'x86_64\n' },
    'rpm -qa': { exitCode: 1, stderr: said },
  })
  const message = expect.stringMatching(/cannot open Packages database.*"rpmdb --rebuilddb"/s)
  expect(await stage(bench, [kubelet])).toEqual({ ok: false, reason: { code: 'PackagesBroken', message } })
})

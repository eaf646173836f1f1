import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import { whatDiffers } from '../what-differs.ts'
import { dnfJobArgv } from './dnf-job.ts'
import { stageDnf, stageDnfReturn } from './dnf-stage.ts'
import { readRpmStatus } from './rpm-status.ts'
import { isSideBySide, parseProviders, sideBySideMarks } from './side-by-side.ts'

describe('packages of which several versions are installed', () => {
  it.each([
    ['kernel', [], true],
    ['kernel-core', [], true],
    ['kernel-modules-extra', [], true],
    ['kernel-devel', [], true],
    ['kernel-uek', [], true],
    ['kernel-debug-modules-core', [], true],
    ['kernel-headers', [], false],
    ['kernel-tools', [], false],
    ['kernel-tools-libs', [], false],
    ['kernel-uek-doc', [], false],
    ['kernel-srpm-macros', ['kernel-srpm-macros = 1.0-14.el9'], false],
    ['kernel6.12', ['kernel = 6.12.22-27.96.amzn2023', 'installonlypkg(kernel)'], true],
    ['kmod-nvidia-6.1.102', ['installonlypkg(kernel-module)'], true],
    ['kernel-default', ['multiversion(kernel)'], true],
    ['glibc', ['glibc = 2.34-100.el9'], false],
  ])('%s that provides %j: %s', async (name, provides, sideBySide) => {
    const marks = await sideBySideMarks(benchWith(after).host)
    expect(isSideBySide(name, provides, marks)).toBe(sideBySide)
  })

  it('are named by rpm, which says in a sentence what nothing provides', () => {
    // Recorded from rpm 4.18.
    const text = 'kernel-core\nkernel-core\nno package provides installonlypkg(vm)\n'
    expect([...parseProviders(text)]).toEqual(['kernel-core'])
  })
})

const [before, after] = ['5.14.0-362.8.1.el9_3', '5.14.0-427.13.1.el9_4']
const staged: StagedPackages = {
  manager: 'dnf',
  folder: '/staging/dnf',
  packages: [
    {
      ...{ name: 'kernel-core', architecture: 'x86_64', version: after, previous: before, wanted: false, held: false },
      ...{ automatic: true, file: '/staging/dnf/archives/kernel-core.rpm', sha256: 'a'.repeat(64), sideBySide: true },
    },
  ],
  removals: [],
  keptBack: [],
}

function benchWith(...versions: readonly string[]): StepBench {
  const bench = new StepBench(scriptOrder())
  bench.answers({
    'rpm --eval': 'x86_64\n',
    'rpm -qa': versions.map((version) => `kernel-core\t0:${version}\tx86_64\n`).join(''),
    'rpm -q --qf': 'kernel-core\n',
    'rm -rf': '',
    'mkdir -p': '',
    'sync -f': '',
    makecache: '',
    repoquery: `kernel-core|0:${after}\n`,
  })
  return bench
}

describe('packages that the host’s dnf.conf installs beside each other', () => {
  it.each([
    ['[main]\ngpgcheck=1\n', []],
    ['[main]\ninstallonlypkgs=kmod-far\n', ['kmod-far']],
    ['[main]\ninstallonlypkgs = kmod-far, driver(far)\nbest=True\n', ['kmod-far', 'driver(far)']],
    ['[main]\ninstallonlypkgs=\n  kmod-far\n  # kmod-old\n  kmod-near\nbest=True\n', ['kmod-far', 'kmod-near']],
    ['[main]\n#installonlypkgs=kmod-far\n', []],
  ])('%j: %j', async (conf, added) => {
    const bench = benchWith(after)
    await bench.put('/etc/dnf/dnf.conf', conf)
    expect(await sideBySideMarks(bench.host)).toEqual([...(await sideBySideMarks(benchWith(after).host)), ...added])
  })

  it('are no doubles, and come beside those that are there', async () => {
    const bench = new StepBench(scriptOrder())
    await bench.put('/etc/yum.conf', '[main]\ninstallonlypkgs=driver(far)\n')
    bench.answers({
      ...{
        'dnf --version': '4.14.0\n',
        'rpm --eval': 'x86_64\n',
        'rm -rf': '',
        'mkdir -p': '',
        'sync -f': '',
        makecache: '',
      },
      'rpm -qa': 'kmod-far\t0:1.0-1\tx86_64\nkmod-far\t0:2.0-1\tx86_64\n',
      'multiversion(kernel) driver(far)': 'kmod-far\nkmod-far\n',
      '--showduplicates': 'kmod-far|0:3.0-1\n',
      '--userinstalled': 'kmod-far\n',
      'rpm -qp --nosignature --qf': 'kmod-far\t0:3.0-1\tx86_64\n',
      'rpm -qp --nosignature --provides': 'kmod-far = 3.0-1\ndriver(far) = 3\n',
      ' install kmod-far-3.0-1': '',
    })
    const { run } = bench.host
    bench.host.run = async (command) => {
      if (command.argv.includes('--downloadonly')) await bench.put('/staging/dnf/archives/kmod-far.rpm', 'far')
      return await run.call(bench.host, command)
    }
    const wanted = [{ name: 'kmod-far', version: '3.0' }]
    const { host, signal, ran } = bench
    const result = await stageDnf(host, 'dnf', { folder: '/staging/dnf', sources: { from: 'Host' }, wanted }, signal)
    expect(result).toMatchObject({ ok: true, staged: { packages: [{ name: 'kmod-far', sideBySide: true }] } })
    expect(ran.filter((words) => words.includes('reinstall') || words.includes('--test'))).toEqual([])
  })
})

describe('a kernel', () => {
  it.each([[[before, after]], [[after, before]]])('is there in whatever order rpm lists %j', async (versions) => {
    const { host, signal } = benchWith(...versions)
    const installed = await readRpmStatus(host, signal)
    expect(whatDiffers(staged, installed)).toBeUndefined()
    const old = { ...staged, packages: staged.packages.map((each) => ({ ...each, version: before })) }
    expect(whatDiffers(old, installed)).toBeUndefined()
  })

  it('that is there already is not asked for again', async () => {
    const { host, signal, ran } = benchWith(after, '6.0.0-1.el9')
    const wanted = [{ name: 'kernel-core', version: after }]
    const result = await stageDnf(host, 'dnf', { folder: '/staging/dnf', sources: { from: 'Host' }, wanted }, signal)
    expect(result).toMatchObject({ ok: true, staged: { packages: [{ name: 'kernel-core', version: after }] } })
    expect(ran.filter((command) => command.includes('--assumeno'))).toEqual([])
  })

  it('goes alone on the way back, and the one before is not demanded', async () => {
    const { host, signal, ran } = benchWith(before)
    const result = await stageDnfReturn(
      host,
      'dnf',
      staged,
      { folder: '/staging/back', sources: { from: 'Host' } },
      signal,
    )
    if (!result.ok) throw new Error(result.reason.message)
    const only = `kernel-core-${after}.x86_64`
    expect(result.staged).toMatchObject({ packages: [], removals: [{ name: 'kernel-core', previous: after, only }] })
    expect(await host.files.read('/staging/back/plan/removals')).toBe(`${only}\n`)
    expect(ran.filter((command) => command.includes('reinstall'))).toEqual([])
    const both = await readRpmStatus(benchWith(before, after).host, signal)
    expect(whatDiffers(result.staged, both)).toBe(`${only} is still installed`)
    expect(whatDiffers(result.staged, await readRpmStatus(host, signal))).toBeUndefined()
  })
})

describe('a transaction that was cut off', () => {
  let folder = ''
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** What rpm is asked to do, with programs that only note how they are called. */
  async function called(lists: Readonly<Record<string, readonly string[]>>): Promise<readonly string[]> {
    folder = await mkdtemp(join(tmpdir(), 'dnf-job-'))
    await mkdir(join(folder, 'plan'))
    await mkdir(join(folder, 'bin'))
    for (const program of ['rpm', 'dnf', 'sync']) {
      const path = join(folder, 'bin', program)
      const noted = program === 'sync' ? `$* $(ls began 2>/dev/null)" >>"${folder}/syncs"` : `$*" >>"${folder}/calls"`
      await writeFile(path, `#!/bin/sh\necho "${program} ${noted}\n`)
      await chmod(path, 0o755)
    }
    const none = { beside: [], removals: [], 'files.sha256': [], doubled: [], held: [], released: [], automatic: [] }
    for (const [name, lines] of Object.entries({ ...none, ...lists })) {
      await writeFile(join(folder, 'plan', name), lines.map((line) => `${line}\n`).join(''))
    }
    const [program = '', ...args] = dnfJobArgv('dnf', { ...staged, folder })
    await promisify(execFile)(program, args, { env: { PATH: `${folder}/bin:/usr/bin:/bin` } })
    return (await readFile(`${folder}/calls`, 'utf8')).trim().split('\n')
  }

  /** Each with the mark, where that was there just then. */
  const synced = async () => (await readFile(`${folder}/syncs`, 'utf8')).trim().split(/ *\n/)

  const retried = (files: readonly string[], beside: readonly string[] = []) => called({ files, beside, began: [] })

  const flags = '--oldpackage --replacepkgs --replacefiles'

  it('never upgrades a kernel: that would remove the one that runs', async () => {
    expect(await retried(['/f/kernel-core.rpm', '/f/tool.rpm'], ['/f/kernel-core.rpm'])).toEqual([
      `rpm -U --nodeps /f/tool.rpm ${flags}`,
      `rpm -i /f/kernel-core.rpm ${flags}`,
    ])
    expect(await retried(['/f/kernel-core.rpm'], ['/f/kernel-core.rpm'])).toEqual([
      `rpm -i /f/kernel-core.rpm ${flags}`,
    ])
  })

  it('upgrades all else as one', async () => {
    expect(await retried(['/f/lib.rpm', '/f/tool.rpm'])).toEqual([`rpm -U /f/lib.rpm /f/tool.rpm ${flags}`])
  })

  it('begins as one that was cut off where somebody else’s left packages twice', async () => {
    const files = ['/f/lib.rpm', '/f/tool.rpm']
    expect(await called({ files, doubled: ['lib'] })).toEqual([`rpm -U /f/lib.rpm /f/tool.rpm ${flags}`])
    expect(await called({ files })).toEqual([expect.stringMatching(/^dnf .* install \/f\/lib\.rpm \/f\/tool\.rpm$/)])
  })

  // Of all file systems, a mount of a server that is gone would never be synced.
  it('syncs its mark and what the transaction wrote, not all that is mounted', async () => {
    await called({ files: ['/f/lib.rpm'] })
    const syncs = await synced()
    expect(syncs.slice(0, 2)).toEqual(['sync -f . began', 'sync -f / began'])
    expect(syncs).toEqual(expect.arrayContaining(['sync -f /usr began', 'sync -f /var began']))
    expect(syncs.filter((words) => !words.startsWith('sync -f '))).toEqual([])
  })

  it('keeps its mark until what the transaction wrote is on the disk', async () => {
    await called({ files: ['/f/lib.rpm'] })
    const syncs = await synced()
    expect(syncs.at(-1)).toBe('sync -f .')
    expect(syncs.slice(0, -1).filter((words) => !words.endsWith(' began'))).toEqual([])
  })
})

// The job as a shell runs it, with programs that only note how they are called.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../../test/agent/step-bench.ts'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import { aptJobArgv } from './apt-job.ts'
import { aptPackageManager } from './apt-package-manager.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apt-job-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Trial {
  /** A call that ends with 1. */
  readonly failing?: string
  readonly packages?: readonly string[]
  /** An earlier start did not come to its end. */
  readonly cutOff?: boolean
  /** The version that dpkg has of all packages; the files are of 2.0. */
  readonly installed?: string
}

interface Outcome {
  readonly code: number
  /** In order, each with the mark where that was there just then. */
  readonly marked: readonly string[]
  readonly calls: readonly string[]
  readonly isUnfinished: boolean
}

async function run(trial: Trial = {}): Promise<Outcome> {
  const { failing = 'none', packages = ['kubelet /f/kubelet.deb'], cutOff = false, installed = '1.0' } = trial
  await mkdir(join(folder, 'plan'))
  await mkdir(join(folder, 'bin'))
  const noted = `set -- "\${0##*/}" "$@"
echo "$* $(ls began 2>/dev/null)" >>"${folder}/calls"
case "$*" in *"${failing}"*) exit 1 ;; esac
`
  const answers: Readonly<Record<string, string>> = {
    'dpkg-query': `case "$*" in *Status*) printf 'installed ok' ;; *) printf '${installed}' ;; esac\n`,
    'dpkg-deb': `printf 2.0\n`,
  }
  for (const program of ['dpkg', 'dpkg-query', 'dpkg-deb', 'apt-get', 'apt-mark', 'sync']) {
    const path = join(folder, 'bin', program)
    await writeFile(path, `#!/bin/sh\n${noted}${answers[program] ?? ''}`)
    await chmod(path, 0o755)
  }
  const lists = { packages, purges: ['old'], held: ['kubelet'], ...(cutOff && { began: [] }) }
  const all = { removals: [], 'files.sha256': [], unheld: [], automatic: [], ...lists }
  for (const [name, lines] of Object.entries(all)) {
    await writeFile(join(folder, 'plan', name), lines.map((line) => `${line}\n`).join(''))
  }
  const staged: StagedPackages = { manager: 'apt', folder, packages: [], removals: [], keptBack: [] }
  const [program = '', ...args] = aptJobArgv(staged)
  const code = await promisify(execFile)(program, args, { env: { PATH: `${folder}/bin:/usr/bin:/bin` } }).then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  )
  const marked = (await readFile(`${folder}/calls`, 'utf8')).trim().split(/ *\n/)
  const calls = marked.map((words) => words.replace(/ began$/, ''))
  return { code, marked, calls, isUnfinished: existsSync(join(folder, 'plan/began')) }
}

// Of all file systems, a mount of a server that is gone would never be synced.
const synced = ['/', '/boot', '/boot/efi', '/etc', '/opt', '/usr', '/var', '/var/lib']
  .filter((place) => existsSync(place))
  .map((place) => `sync -f ${place}`)
const unpacked = 'dpkg --force-confdef --force-confold --force-downgrade --unpack'

// dpkg with force-unsafe-io notes a package as installed before its files are on the disk.
describe('all that the transaction wrote is on the disk before it counts as done', () => {
  it('where it ends well', async () => {
    const { code, calls } = await run()
    expect(code).toBe(0)
    expect(calls).toContain('dpkg --purge old')
    const hold = `apt-mark -c ${folder}/offline.conf hold kubelet`
    expect(calls.slice(-synced.length - 2)).toEqual([hold, ...synced, 'sync -f .'])
  })

  it.each([
    { failing: 'apt-get', fails: 1 },
    { failing: '--purge', fails: 123 },
  ])('where $failing fails, which stays a failure', async ({ failing, fails }) => {
    const { code, calls, isUnfinished } = await run({ failing })
    expect(code).toBe(fails)
    expect(calls.slice(-synced.length - 1)).toEqual([...synced, 'sync -f .'])
    expect(isUnfinished).toBe(false)
  })
})

describe('a transaction that may be cut off', () => {
  it('has its mark on the disk from before the first change until all that it wrote is there', async () => {
    const { marked, isUnfinished } = await run()
    expect(marked[0]).toBe('sync -f . began')
    expect(marked.slice(0, -1).filter((words) => !words.endsWith(' began'))).toEqual([])
    expect(marked.at(-1)).toBe('sync -f .')
    expect(isUnfinished).toBe(false)
  })

  const packages = ['lib /f/lib.deb', 'tool /f/tool.deb']

  it('unpacks again what counts as installed when it was', async () => {
    const { code, calls } = await run({ packages, cutOff: true, installed: '2.0' })
    expect(code).toBe(0)
    const again = calls.indexOf(`${unpacked} /f/lib.deb /f/tool.deb`)
    expect(again).toBeGreaterThan(0)
    expect(calls.findIndex((words) => words.startsWith('apt-get '))).toBeGreaterThan(again)
  })

  it.each([
    { name: 'what has another version yet is left to apt', trial: { cutOff: true, installed: '1.0' } },
    { name: 'without the mark, all is', trial: { cutOff: false, installed: '2.0' } },
  ])('$name', async ({ trial }) => {
    const { code, calls } = await run({ packages, ...trial })
    expect(code).toBe(0)
    expect(calls.filter((words) => words.includes('--unpack'))).toEqual([])
  })

  it('has failed, and keeps its mark, where that cannot be unpacked', async () => {
    const { code, isUnfinished } = await run({ packages, cutOff: true, installed: '2.0', failing: '--unpack' })
    expect(code).toBe(1)
    expect(isUnfinished).toBe(true)
  })

  it('needs no mark where it installs nothing', async () => {
    const { code, marked } = await run({ packages: [] })
    expect(code).toBe(0)
    expect(marked.filter((words) => words.endsWith(' began'))).toEqual([])
  })
})

it('counts as missing as long as the mark is there, though all versions match', async () => {
  const bench = new StepBench(scriptOrder())
  bench.answers({
    '--print-architecture': 'amd64\n',
    'dpkg-query': 'tool\t2.0\tall\tinstall\tok\tinstalled\n',
    '--audit': '',
  })
  const each = { name: 'tool', architecture: 'all', version: '2.0', wanted: true, held: false, automatic: false }
  const staged: StagedPackages = {
    manager: 'apt',
    folder: '/staging/one',
    packages: [each],
    removals: [],
    keptBack: [],
  }
  const manager = aptPackageManager(bench.host)
  expect(await manager.missing(staged, bench.signal)).toBeUndefined()
  await bench.put('/staging/one/plan/began', '')
  expect(await manager.missing(staged, bench.signal)).toContain('was cut off')
})

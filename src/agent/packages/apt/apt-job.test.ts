// The job as a shell runs it, with programs that only note how they are called.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StagedPackages } from '../../../api/staged-packages.ts'
import { aptJobArgv } from './apt-job.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apt-job-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Its exit code and what it called, in order; `failing` is a call that ends with 1. */
async function run(failing = 'none'): Promise<{ readonly code: number; readonly calls: readonly string[] }> {
  await mkdir(join(folder, 'plan'))
  await mkdir(join(folder, 'bin'))
  const noted = `set -- "\${0##*/}" "$@"\necho "$*" >>"${folder}/calls"\ncase "$*" in *"${failing}"*) exit 1 ;; esac\n`
  for (const program of ['dpkg', 'dpkg-query', 'apt-get', 'apt-mark', 'sync']) {
    const path = join(folder, 'bin', program)
    await writeFile(path, `#!/bin/sh\n${noted}`)
    await chmod(path, 0o755)
  }
  const lists = { packages: ['kubelet /f/kubelet.deb'], purges: ['old'], held: ['kubelet'] }
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
  return { code, calls: (await readFile(`${folder}/calls`, 'utf8')).trim().split('\n') }
}

// Of all file systems, a mount of a server that is gone would never be synced.
const synced = ['/', '/boot', '/boot/efi', '/etc', '/opt', '/usr', '/var', '/var/lib']
  .filter((place) => existsSync(place))
  .map((place) => `sync -f ${place}`)

// dpkg with force-unsafe-io notes a package as installed before its files are on the disk.
describe('all that the transaction wrote is on the disk before it counts as done', () => {
  it('where it ends well', async () => {
    const { code, calls } = await run()
    expect(code).toBe(0)
    expect(calls).toContain('dpkg --purge old')
    expect(calls.slice(-synced.length - 1)).toEqual([`apt-mark -c ${folder}/offline.conf hold kubelet`, ...synced])
  })

  it.each([
    { failing: 'apt-get', fails: 1 },
    { failing: '--purge', fails: 123 },
  ])('where $failing fails, which stays a failure', async ({ failing, fails }) => {
    const { code, calls } = await run(failing)
    expect(code).toBe(fails)
    expect(calls.slice(-synced.length)).toEqual(synced)
  })
})

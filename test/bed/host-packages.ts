// What the bed takes from Debian: programs it works with, installed where missing, and packages it only looks into.

import { access, constants, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { assetsFolder, locked } from './cache-folder.ts'
import { runProgram } from './run-program.ts'

const packageOf = {
  'apt-ftparchive': 'apt-utils',
  chattr: 'e2fsprogs',
  debootstrap: 'debootstrap',
  'dpkg-deb': 'dpkg',
  gpg: 'gpg',
  ip: 'iproute2',
  nsenter: 'util-linux',
  'systemd-nspawn': 'systemd-container',
} as const

/** Makes sure all of them are there; throws with the words to type where nothing is to be installed, or this user may not. */
export async function needHostPackages(
  packages: Readonly<Record<string, string>> = packageOf,
  how: 'install' | 'look' = 'install',
): Promise<void> {
  const missing = await missingOf(packages)
  if (missing.length === 0) return
  const install = ['install', '-y', '-qq', '--no-install-recommends']
  if (how === 'look' || process.getuid?.() !== 0)
    throw new Error(`needed: apt-get ${[...install, ...missing].join(' ')}`)
  await withApt(async () => {
    // Another may have installed them meanwhile.
    const still = await missingOf(packages)
    if (still.length === 0) return
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    const words = ['-o', 'DPkg::Lock::Timeout=300', ...install, ...still]
    await withFreshLists(() => runProgram('apt-get', words, { env }))
  })
}

/** The files of packages, without installing them, into `folder`. */
export async function unpackPackages(packages: readonly string[], folder: string): Promise<void> {
  const scratch = await mkdtemp(join(folder, 'packages-'))
  await withApt(() => withFreshLists(() => runProgram('apt-get', ['download', '-qq', ...packages], { cwd: scratch })))
  for (const file of await readdir(scratch)) await runProgram('dpkg-deb', ['-x', join(scratch, file), folder])
  await rm(scratch, { recursive: true })
}

/** One of ours at a time: in containers `update` removes the files that another has fetched and not yet installed. */
function withApt<T>(work: () => Promise<T>): Promise<T> {
  return locked(join(assetsFolder(), 'apt.lock'), work)
}

/** The lists may be old or missing. */
function withFreshLists<T>(work: () => Promise<T>): Promise<T> {
  return work().catch(async () => {
    await runProgram('apt-get', ['update', '-qq'])
    return work()
  })
}

async function missingOf(packages: Readonly<Record<string, string>>): Promise<string[]> {
  const missing: string[] = []
  for (const [program, name] of Object.entries(packages)) if (!(await isInPath(program))) missing.push(name)
  return missing
}

async function isInPath(program: string): Promise<boolean> {
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return true
  }
  return false
}

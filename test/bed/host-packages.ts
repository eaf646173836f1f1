// The programs of Debian the bed works with; what is missing is installed, once.

import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Makes sure all of them are there; throws with the words to type where this user may not install. */
export async function needHostPackages(packages: Readonly<Record<string, string>> = packageOf): Promise<void> {
  const missing: string[] = []
  for (const [program, name] of Object.entries(packages)) if (!(await isInPath(program))) missing.push(name)
  if (missing.length === 0) return
  const command = ['install', '-y', '-qq', '--no-install-recommends', ...missing]
  if (process.getuid?.() !== 0) throw new Error(`the bed needs: apt-get ${command.join(' ')}`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await runProgram('apt-get', command, { env })
  } catch {
    // The lists may be old or missing.
    await runProgram('apt-get', ['update', '-qq'], { env })
    await runProgram('apt-get', command, { env })
  }
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

// A flat apt repository, as the per-minor ones of Kubernetes are: Packages, Release and its signatures in one folder.

import { appendFile, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildDeb, type DebPackage } from './deb-package.ts'
import { runProgram } from './run-program.ts'
import { signRelease } from './signing-key.ts'

export interface RepositoryOptions {
  /**
   * `trusted` is the key the machines are given, `stranger` another one, `nobody` leaves it unsigned, `tampered` changes the
   * Release file after it was signed. `trusted` if not said.
   */
  readonly signedBy?: 'trusted' | 'stranger' | 'nobody' | 'tampered'
  /** Fields of its Release file: Origin, Label, Suite, Codename. */
  readonly release?: Readonly<Record<string, string>>
}

/** Makes or renews the repository in the folder: the packages given, and the package files that lie there already. */
export async function makeRepository(
  folder: string,
  packages: readonly DebPackage[],
  { signedBy = 'trusted', release = {} }: RepositoryOptions = {},
): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const deb of packages) await buildDeb(deb, join(folder, deb.architecture ?? 'all'))
  for (const name of ['Release', 'InRelease', 'Release.gpg']) await rm(join(folder, name), { force: true })
  const list = await runProgram('apt-ftparchive', ['packages', '.'], { cwd: folder })
  await writeFile(join(folder, 'Packages'), list)
  await writeFile(join(folder, 'Packages.gz'), gzipSync(list))
  const fields = { Origin: 'slipway-bed', ...release }
  const options = Object.entries(fields).flatMap(([name, value]) => [
    '-o',
    `APT::FTPArchive::Release::${name}=${value}`,
  ])
  const written = await runProgram('apt-ftparchive', [...options, 'release', '.'], { cwd: folder })
  await writeFile(join(folder, 'Release'), written)
  if (signedBy !== 'nobody') await signRelease(folder, signedBy === 'stranger' ? 'stranger' : 'trusted')
  if (signedBy === 'tampered') await tamper(folder)
}

/** The signed text says something else than what was signed; without InRelease, apt takes Release and Release.gpg. */
async function tamper(folder: string): Promise<void> {
  await rm(join(folder, 'InRelease'))
  await appendFile(join(folder, 'Release'), 'Acquire-By-Hash: no\n')
}

/** A copy with other signatures, for a repository that is right in all but its key. */
export async function copyRepository(from: string, to: string, options: RepositoryOptions): Promise<void> {
  await cp(from, to, { recursive: true })
  await makeRepository(to, [], options)
}

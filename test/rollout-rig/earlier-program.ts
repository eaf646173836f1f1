// The program as it was at an earlier commit, from the repository's own history.

import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Safety as it is, without schedules, backups and what came after: what a cluster may run today. */
export const earlierCommit = '0302b0f3d002d24fab262bfe57bd6229d737c7b2'
export const earlierVersion = '0.0.9'

/** Undefined where the commit is there, and where it should be: in continuous integration, in a clone with its whole history. */
export async function whyNoEarlierProgram(): Promise<string | undefined> {
  const git = (...args: readonly string[]) =>
    run('git', ['-C', repository, ...args]).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    )
  if ((await git('cat-file', '-e', `${earlierCommit}^{commit}`)) !== undefined) return undefined
  const isWhole = (await git('rev-parse', '--is-shallow-repository')) === 'false'
  return process.env.CI && isWhole ? undefined : `commit ${earlierCommit} is not here: git fetch --unshallow`
}

export interface EarlierProgram extends AsyncDisposable {
  /** Its main file. */
  readonly path: string
}

/** It tells a version of its own, so that one can see who runs where; the packages it needs are today's. */
export async function earlierProgram(): Promise<EarlierProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-earlier-'))
  await run('git', [
    '-C',
    repository,
    'archive',
    '-o',
    join(folder, 'sources.tar'),
    earlierCommit,
    'src',
    'package.json',
  ])
  await run('tar', ['-xf', join(folder, 'sources.tar'), '-C', folder])
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const manifest = join(folder, 'package.json')
  const { version, ...others } = JSON.parse(await readFile(manifest, 'utf8')) as Record<string, unknown>
  await writeFile(manifest, JSON.stringify({ ...others, version: earlierVersion, was: version }))
  return {
    path: join(folder, 'src/main/slipway.ts'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

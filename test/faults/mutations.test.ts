import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Mutation, mutations } from './mutations.ts'
import { project, simulateFaults } from './simulate.ts'

/** Enough runs for the rarest of these bugs to show; looked at in slices, since most show at once. */
const slices = [
  [1, 30],
  [31, 120],
  [121, 400],
  [401, 1200],
] as const

describe.concurrent('every rule has teeth: a planted bug is caught', { timeout: 300_000 }, () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'slipway-mutants-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each(mutations.map((mutation, index) => ({ ...mutation, index })))('rule $rule: $name', async (mutation) => {
    const copy = join(folder, String(mutation.index))
    await plant(mutation, copy)
    for (const [first, last] of slices) {
      const { violations } = await simulateFaults(copy, first, last)
      if (violations.some(({ rule }) => rule === mutation.rule)) return
    }
    expect.fail(`not caught in ${slices.at(-1)?.[1]} runs`)
  })
})

async function plant({ edits }: Mutation, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true })
  await cp(join(project, 'src'), join(copy, 'src'), { recursive: true })
  await cp(join(project, 'package.json'), join(copy, 'package.json'))
  await symlink(join(project, 'node_modules'), join(copy, 'node_modules'))
  for (const { file, find, replace } of edits) {
    const path = join(copy, file)
    const source = await readFile(path, 'utf8')
    const places = source.split(find).length - 1
    if (places !== 1) throw new Error(`${file} has "${find}" ${places} times, not once: plant the bug anew`)
    await writeFile(
      path,
      source.replace(find, () => replace),
    )
  }
}

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { project } from './simulate.ts'

export interface Edit {
  readonly file: string
  readonly find: string
  readonly replace: string
}

/** Copies the sources, and plants a bug in the copy. */
export async function plant(edits: readonly Edit[], copy: string, folders: readonly string[] = ['src']): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const folder of folders) await cp(join(project, folder), join(copy, folder), { recursive: true })
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

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of the repository that holds exactly what is generated from the sources. */
export interface GeneratedFolder {
  /** Its path in the repository. */
  readonly path: string
  readonly files: ReadonlyMap<string, string>
  /** What it is generated from, and the make target that does it. */
  readonly source: string
  readonly target: string
}

/** Writes what differs; with `--check` on the command line it only compares, names what differs, and fails. */
export async function generate({ path, files, source, target }: GeneratedFolder): Promise<void> {
  const folder = join(import.meta.dirname, '../..', path)
  const onlyCheck = process.argv.includes('--check')
  await mkdir(folder, { recursive: true })
  const present = await readdir(folder)
  const differing: string[] = []

  for (const name of present.filter((name) => !files.has(name))) {
    differing.push(name)
    if (!onlyCheck) await rm(join(folder, name))
  }
  for (const [name, text] of files) {
    const file = join(folder, name)
    if (present.includes(name) && (await readFile(file, 'utf8')) === text) continue
    differing.push(name)
    if (!onlyCheck) await writeFile(file, text)
  }

  for (const name of differing) process.stdout.write(`${onlyCheck ? 'differs' : 'written'}: ${path}/${name}\n`)
  if (!onlyCheck || differing.length === 0) return
  process.stderr.write(`error: ${path} is not what ${source} says\nnext: run make ${target} and commit the result\n`)
  process.exitCode = 1
}

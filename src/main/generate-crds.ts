// `make crds` writes deploy/crds from the schemas in src/api; `--check` only compares, and names what differs.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderDefinitions } from './crd/render-definitions.ts'

const folder = join(import.meta.dirname, '../../deploy/crds')
const onlyCheck = process.argv.includes('--check')

await mkdir(folder, { recursive: true })
const wanted = renderDefinitions()
const present = await readdir(folder)
const differing: string[] = []

for (const name of present.filter((name) => !wanted.has(name))) {
  differing.push(name)
  if (!onlyCheck) await rm(join(folder, name))
}
for (const [name, text] of wanted) {
  const file = join(folder, name)
  if (present.includes(name) && (await readFile(file, 'utf8')) === text) continue
  differing.push(name)
  if (!onlyCheck) await writeFile(file, text)
}

for (const name of differing) process.stdout.write(`${onlyCheck ? 'differs' : 'written'}: deploy/crds/${name}\n`)
if (onlyCheck && differing.length > 0) {
  process.stderr.write('error: deploy/crds is not what src/api says\nnext: run make crds and commit the result\n')
  process.exitCode = 1
}

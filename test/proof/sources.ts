import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const project = join(import.meta.dirname, '../..')

/** All that a simulated history depends on. */
const decisive = [
  'src/{agent,api,core,kube,operator,ports,sim}/**/*.ts',
  'src/main/{crd,simulation}/**/*.ts',
  'package-lock.json',
]

/** Stands for those files and the given ones: with another, other histories may come out. */
export function sourcesOf(...more: readonly string[]): string {
  const hash = createHash('sha256')
  const files = globSync([...decisive, ...more], { cwd: project }).toSorted()
  for (const file of files)
    if (!file.endsWith('.test.ts')) hash.update(`${file}\n`).update(readFileSync(join(project, file)))
  return hash.digest('hex')
}

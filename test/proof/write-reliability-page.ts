// `make reliability` writes docs/reliability.md and docs/scale.md from the results in docs/proof; with --check it only compares.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { complaints } from './complaints.ts'
import { keptResults } from './kept-results.ts'
import { reliabilityPage, scalePage } from './reliability-page.ts'

const results = keptResults()
const pages = { 'docs/reliability.md': reliabilityPage(results, complaints), 'docs/scale.md': scalePage(results) }

for (const [path, wanted] of Object.entries(pages)) {
  const file = join(import.meta.dirname, '../..', path)
  if (!process.argv.includes('--check')) writeFileSync(file, wanted)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
    process.stderr.write(
      `error: ${path} is not what docs/proof says\nnext: run make reliability and commit the result\n`,
    )
    process.exitCode = 1
  }
}

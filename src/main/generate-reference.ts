// `make reference` writes docs/reference from the catalogues in the code.

import { generate } from './generated-folder.ts'
import { renderChecks } from './reference/render-checks.ts'
import { renderPermissions } from './reference/render-permissions.ts'
import { renderReasons } from './reference/render-reasons.ts'

const files = new Map([
  ['reasons.md', renderReasons()],
  ['checks.md', renderChecks()],
  ['permissions.md', renderPermissions()],
])
await generate({ path: 'docs/reference', files, others: ['drivers.md'], source: 'src/api', target: 'reference' })

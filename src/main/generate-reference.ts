// `make reference` writes docs/reference from the catalogues in the code.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from './generated-folder.ts'
import { renderChecks } from './reference/render-checks.ts'
import { renderCommands } from './reference/render-commands.ts'
import { renderMetrics } from './reference/render-metrics.ts'
import { renderPermissions } from './reference/render-permissions.ts'
import { renderReasons } from './reference/render-reasons.ts'
import { renderResources } from './reference/render-resources.ts'
import { renderValues } from './reference/render-values.ts'

const chart = (file: string) => readFile(join(import.meta.dirname, '../../deploy/chart', file), 'utf8')

const files = new Map([
  ['reasons.md', renderReasons()],
  ['checks.md', renderChecks()],
  ['metrics.md', renderMetrics()],
  ['permissions.md', renderPermissions()],
  ['cli.md', await renderCommands()],
  ['values.md', renderValues(await chart('values.yaml'), await chart('values.schema.json'))],
  ...renderResources(),
])
await generate({ path: 'docs/reference', files, others: ['drivers.md'], source: 'src/api', target: 'reference' })

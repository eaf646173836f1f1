// `make reference` writes docs/reference from the catalogues in src/api.

import { generate } from './generated-folder.ts'
import { renderReasons } from './reference/render-reasons.ts'

const files = new Map([['reasons.md', renderReasons()]])
await generate({ path: 'docs/reference', files, source: 'src/api', target: 'reference' })

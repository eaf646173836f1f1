// `make crds` writes deploy/crds and deploy/foreign-crds from the schemas in src/api.

import { renderDefinitions, renderForeignDefinitions } from './crd/render-definitions.ts'
import { generate } from './generated-folder.ts'

await generate({ path: 'deploy/crds', files: renderDefinitions(), source: 'src/api', target: 'crds' })
await generate({ path: 'deploy/foreign-crds', files: renderForeignDefinitions(), source: 'src/api', target: 'crds' })

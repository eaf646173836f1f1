// `make crds` writes deploy/crds from the schemas in src/api.

import { renderDefinitions } from './crd/render-definitions.ts'
import { generate } from './generated-folder.ts'

await generate({ path: 'deploy/crds', files: renderDefinitions(), source: 'src/api', target: 'crds' })

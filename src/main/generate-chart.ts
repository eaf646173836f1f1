// `make chart` writes those parts of deploy/chart that stand elsewhere in the sources.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { chartFile } from './chart/chart-file.ts'
import { definitionTemplates } from './chart/definition-templates.ts'
import { generatedTemplates } from './chart/generated-templates.ts'
import { generate } from './generated-folder.ts'

await generate({
  path: 'deploy/chart',
  files: new Map([['Chart.yaml', chartFile(packageJson.version)]]),
  others: ['.helmignore', 'files', 'templates', 'values.schema.json', 'values.yaml'],
  source: 'package.json',
  target: 'chart',
})
await generate({
  path: 'deploy/chart/templates/generated',
  files: new Map([...generatedTemplates(), ...definitionTemplates()]),
  source: 'src',
  target: 'chart',
})
await generate({ path: 'deploy/chart/files', files: await copies(), source: 'deploy', target: 'chart' })

/** Helm reads no file outside the chart. */
async function copies(): Promise<ReadonlyMap<string, string>> {
  const files = { 'rules.yaml': 'prometheus/rules.yaml', 'slipway.json': 'grafana/slipway.json' }
  const read = Object.entries(files).map(async ([name, path]): Promise<[string, string][]> => {
    const text = await readFile(join(import.meta.dirname, '../../deploy', path), 'utf8').catch(absent)
    return text === undefined ? [] : [[name, text]]
  })
  return new Map((await Promise.all(read)).flat())
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

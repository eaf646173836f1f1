// The CustomResourceDefinitions as templates: Helm never touches a chart's folder `crds` again after the first installation.

import { renderDefinitions, renderForeignDefinitions } from '../crd/render-definitions.ts'
import { escaped } from './generated-templates.ts'

const head = '# Generated from src/api by make chart; do not edit.\n'
const keep = `
{{- if .Values.crds.keep }}
  annotations:
    helm.sh/resource-policy: keep
{{- end }}`

/** File name to content. */
export function definitionTemplates(): ReadonlyMap<string, string> {
  return new Map([
    ...templates(renderDefinitions(), '.Values.crds.install'),
    ...templates(renderForeignDefinitions(), 'and .Values.foreign.enabled .Values.foreign.crds'),
  ])
}

function templates(definitions: ReadonlyMap<string, string>, condition: string): readonly [string, string][] {
  return [...definitions].map(([file, yaml]) => {
    const text = escaped(yaml.replace(/^#.*\n/, '')).replace(/^metadata:\n {2}name: .*$/m, (found) => found + keep)
    return [`crd-${file}`, `${head}{{- if ${condition} }}\n${text}{{- end }}\n`]
  })
}

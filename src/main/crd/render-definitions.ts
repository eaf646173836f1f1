import { stringify } from 'yaml'
import { resourceDefinitions } from './resource-definitions.ts'

/** File name to content of each CustomResourceDefinition. */
export function renderDefinitions(): ReadonlyMap<string, string> {
  return new Map(
    resourceDefinitions().map((definition) => {
      const [plural = ''] = definition.metadata.name.split('.')
      // YAML 1.1, since kubectl and most Go readers still speak it: `on` and `yes` are quoted for them.
      const yaml = stringify(definition, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
      return [`${plural}.yaml`, `# Generated from src/api by make crds; do not edit.\n${yaml}`]
    }),
  )
}

import { stringify } from 'yaml'
import type { CustomResourceDefinition } from './custom-resource.ts'
import { foreignDefinitions } from './foreign-definitions.ts'
import { resourceDefinitions } from './resource-definitions.ts'

/** File name to content of each CustomResourceDefinition. */
export function renderDefinitions(): ReadonlyMap<string, string> {
  return rendered(resourceDefinitions(), (name) => name.split('.')[0] ?? name)
}

/** The same of those of other systems, which have their group in the name: some have the plurals we have. */
export function renderForeignDefinitions(): ReadonlyMap<string, string> {
  return rendered(foreignDefinitions(), (name) => name)
}

function rendered(
  definitions: readonly CustomResourceDefinition[],
  fileName: (name: string) => string,
): ReadonlyMap<string, string> {
  return new Map(
    definitions.map((definition) => {
      // YAML 1.1, since kubectl and most Go readers still speak it: `on` and `yes` are quoted for them.
      const yaml = stringify(definition, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
      return [
        `${fileName(definition.metadata.name)}.yaml`,
        `# Generated from src/api by make crds; do not edit.\n${yaml}`,
      ]
    }),
  )
}

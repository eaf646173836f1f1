import { parse, stringify } from 'yaml'
import type { Yaml } from '../cli/dependencies.ts'

export const yamlText: Yaml = {
  parse: (text) => parse(text),
  // YAML 1.1, since kubectl and most Go readers still speak it: `on` and `yes` are quoted for them.
  print: (value) => stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
}

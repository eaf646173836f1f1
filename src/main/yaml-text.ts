import { parse, parseAllDocuments, stringify } from 'yaml'
import type { Yaml } from '../cli/dependencies.ts'

export const yamlText: Yaml = {
  parse: (text) => parse(text),
  documents: (text) =>
    [...parseAllDocuments(text)].flatMap((document) => {
      const [error] = document.errors
      if (error) throw error
      const value: unknown = document.toJS()
      return value === null || value === undefined ? [] : [value]
    }),
  // YAML 1.1, since kubectl and most Go readers still speak it: `on` and `yes` are quoted for them.
  print: (value) => stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
}

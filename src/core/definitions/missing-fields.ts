// Whether what a cluster knows of a kind is as new as the program: every field and word we write must have a place there.
// A newer definition knows more, and that is good enough.

/** As much of an OpenAPI schema as tells which fields and words there are. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>> | undefined
  readonly items?: FieldSchema | undefined
  readonly additionalProperties?: FieldSchema | boolean | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined
  readonly [keyword: string]: unknown
}

/** The paths of the fields that `found` lacks, the outermost of each branch; `path=word` for a word that it does not allow. */
export function missingFields(wanted: FieldSchema, found: FieldSchema, path = ''): readonly string[] {
  if (found['x-kubernetes-preserve-unknown-fields'] === true) return []
  return [
    ...Object.entries(wanted.properties ?? {}).flatMap(([name, schema]) => {
      const known = found.properties?.[name]
      const here = path === '' ? name : `${path}.${name}`
      return known ? missingFields(schema, known, here) : [here]
    }),
    ...(wanted.items ? missingFields(wanted.items, found.items ?? {}, `${path}[]`) : []),
    ...inMap(wanted, found, path),
    ...missingWords(wanted, found).map((word) => `${path}=${word}`),
  ]
}

function inMap(wanted: FieldSchema, found: FieldSchema, path: string): readonly string[] {
  const { additionalProperties: values } = wanted
  if (typeof values !== 'object' || found.additionalProperties === true) return []
  const known = typeof found.additionalProperties === 'object' ? found.additionalProperties : {}
  return missingFields(values, known, `${path}.*`)
}

/** A field that was limited to some words and is not any more allows all. */
function missingWords(wanted: FieldSchema, found: FieldSchema): readonly string[] {
  if (!wanted.enum || !found.enum) return []
  const known = new Set(found.enum)
  return wanted.enum.filter((word) => !known.has(word)).map(String)
}

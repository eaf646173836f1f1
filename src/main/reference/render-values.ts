// docs/reference/values.md, from the comments of values.yaml and the types of values.schema.json.

import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'
import { z } from 'zod'

interface Schema {
  readonly type?: string | readonly string[] | undefined
  readonly enum?: readonly string[] | undefined
  readonly $ref?: string | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.string()).optional(),
    $ref: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    properties: z.record(z.string(), schema).optional(),
  }),
)

/** Both files as they lie in the chart. Throws where a value has no comment or no type. */
export function renderValues(values: string, types: string): string {
  const { contents } = parseDocument(values)
  if (!isMap(contents)) throw new Error('values.yaml is no map')
  const rows = rowsOf(contents, schema.parse(JSON.parse(types)), [])
  return `${head}\n| value | type | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

function rowsOf(map: YAMLMap, typed: Schema, path: readonly string[]): readonly string[] {
  return map.items.flatMap((pair, index) => {
    const name = isScalar(pair.key) ? String(pair.key.value) : ''
    const here = [...path, name]
    const known = typed.properties?.[name]
    if (!known) throw new Error(`values.schema.json does not know ${here.join('.')}`)
    // The comment before the first key of a map belongs to the map.
    const comment = commentOf(pair, index === 0 ? map : undefined)
    if (comment === undefined && isMap(pair.value) && known.properties) return rowsOf(pair.value, known, here)
    if (comment === undefined) throw new Error(`values.yaml does not say what ${here.join('.')} is for`)
    return [`| \`${here.join('.')}\` | ${typeOf(known)} | ${defaultOf(pair)} | ${comment.replaceAll('|', '\\|')} |`]
  })
}

function commentOf({ key }: Pair, map: YAMLMap | undefined): string | undefined {
  const comment = (isScalar(key) ? key.commentBefore : undefined) ?? map?.commentBefore
  // What stands before an empty line is about the whole file.
  return comment
    ?.split(/\n\s*\n/)
    .at(-1)
    ?.split('\n')
    .map((line) => line.trim())
    .join(' ')
}

function typeOf({ type, enum: words, $ref, minimum, maximum }: Schema): string {
  if (words) return words.join(', ')
  if ($ref) return $ref.endsWith('/texts') ? 'map of texts' : ($ref.split('/').at(-1) ?? '')
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined)
  const range = bounds.length === 2 ? ` ${bounds.join('–')}` : minimum === undefined ? '' : ` from ${minimum}`
  const names: Readonly<Record<string, string>> = { string: 'text', object: 'map', array: 'list', integer: 'number' }
  return [type ?? []]
    .flat()
    .map((name) => `${names[name] ?? name}${range}`)
    .join(' or ')
}

function defaultOf({ value }: Pair): string {
  const text = JSON.stringify(value)
  return text === '""' ? 'empty' : `\`${text.replaceAll('|', '\\|')}\``
}

const head = `<!-- Generated from deploy/chart by make reference; do not edit. -->
# Values of the Helm chart

What can be set with \`helm install --set\` or \`--values\`. A value that is not listed, or of another type, is refused. How to install:
[install](../install.md).
`

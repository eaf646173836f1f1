// A page for each kind, from its definition: every field with its type and what it says of itself.

import { z } from 'zod'
import { reasonCatalogue } from '../../api/reason.ts'
import { resourceDefinitions } from '../crd/resource-definitions.ts'

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-validations'?: readonly { readonly message?: string }[]
}

const kindSchema = z.object({
  group: z.string(),
  names: z.object({ kind: z.string(), singular: z.string(), shortNames: z.array(z.string()) }),
  versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.custom<Schema>() }) })),
})

/** File name to text. */
export function renderResources(): ReadonlyMap<string, string> {
  return new Map(
    resourceDefinitions().map(({ spec }) => {
      const kind = kindSchema.parse(spec)
      return [`${kind.names.singular}.md`, renderKind(kind)]
    }),
  )
}

function renderKind({ names, versions, group }: z.infer<typeof kindSchema>): string {
  const [version] = versions
  const schema = version?.schema.openAPIV3Schema
  const { spec, status } = schema?.properties ?? {}
  const parts = [
    '<!-- Generated from src/api by make reference; do not edit. -->',
    `# ${names.kind}`,
    '',
    `\`${group}/${version?.name}\`, for \`kubectl get\` also \`${names.shortNames.join('`, `')}\`. ${schema?.description ?? ''}`,
    ...wholeRules(schema),
    ...(spec ? ['', '## spec', ...table(spec)] : []),
    ...(status ? ['', '## status', '', 'Written by Slipway only.', ...table(status)] : []),
  ]
  return `${parts.join('\n')}\n`
}

function wholeRules(schema: Schema | undefined): readonly string[] {
  const messages = [schema, schema?.properties?.spec].flatMap((part) => part?.['x-kubernetes-validations'] ?? [])
  if (messages.length === 0) return []
  return ['', 'Refused by the API server:', '', ...messages.map(({ message = '' }) => `- ${message}`)]
}

function table(schema: Schema): readonly string[] {
  const rows = fieldsOf(schema, '').map(
    ({ path, type, required, text }) => `| \`${path}\`${required ? ' *' : ''} | ${type} | ${text} |`,
  )
  return ['', 'A star marks what must be given.', '', '| field | type | |', '|---|---|---|', ...rows]
}

interface Field {
  readonly path: string
  readonly type: string
  readonly required: boolean
  readonly text: string
}

function fieldsOf(schema: Schema, before: string): readonly Field[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${before}${name}`
    const own = { path, type: typeOf(field), required: required.has(name), text: textOf(field) }
    if (isUpdateTemplate(path)) return [{ ...own, text: 'as the spec of a [DirectUpdate](directupdate.md)' }]
    return [own, ...fieldsOf(field, `${path}.`), ...fieldsOf(elementOf(field), `${path}[].`)]
  })
}

function isUpdateTemplate(path: string): boolean {
  return path === 'template.spec'
}

function elementOf({ items, additionalProperties }: Schema): Schema {
  if (items) return items
  return typeof additionalProperties === 'object' ? additionalProperties : {}
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return 'number or text'
  if (schema.enum?.every((value) => Object.hasOwn(reasonCatalogue, String(value))))
    return 'one of the [reasons](reasons.md)'
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.items) return `list of ${typeOf(schema.items)}`
  if (typeof schema.additionalProperties === 'object') return `map of ${typeOf(schema.additionalProperties)}`
  if (schema.format === 'date-time') return 'time'
  return words[schema.type ?? ''] ?? schema.type ?? 'anything'
}

const words: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
}

/** What it is for, else what is demanded of it. */
function textOf({ description, default: value, ...schema }: Schema): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).flatMap(({ message }) => message ?? [])
  const text = description ?? rules.join('; ')
  const standard = value === undefined ? '' : ` Default \`${JSON.stringify(value)}\``
  return `${text}${standard}`.trim().replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

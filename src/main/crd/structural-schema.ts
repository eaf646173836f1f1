// From zod to what the API server calls a structural schema: no references, no unions but int-or-string, and unknown
// fields are left to strict field validation (`additionalProperties: false` is not allowed beside properties).

import { z } from 'zod'

export interface StructuralSchema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly required?: readonly string[]
  readonly items?: StructuralSchema
  readonly additionalProperties?: StructuralSchema
  readonly [keyword: string]: unknown
}

type JsonSchema = z.core.JSONSchema.BaseSchema

export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return structural(
    z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline', cycles: 'throw' }),
    '',
  )
}

// What may be copied as it stands; a keyword that is not known here must not slip into a CRD unseen.
const copied = new Set([
  'type',
  'default',
  'description',
  'format',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'x-kubernetes-int-or-string',
  'x-kubernetes-validations',
])

function structural(source: JsonSchema, path: string): StructuralSchema {
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(source)) {
    if (isLeftOut(keyword, value, source)) continue
    if (keyword === 'properties') result.properties = eachProperty(source.properties ?? {}, path)
    else if (keyword === 'items') result.items = structural(asSchema(value, `${path}[]`), `${path}[]`)
    else if (keyword === 'additionalProperties') result[keyword] = structural(asSchema(value, path), `${path}{}`)
    else if (copied.has(keyword)) result[keyword] = value
    else throw new Error(`${path || 'the schema'} uses "${keyword}", which has no place in a structural schema`)
  }
  return result
}

function isLeftOut(keyword: string, value: unknown, source: JsonSchema): boolean {
  const hasRule = 'x-kubernetes-validations' in source
  switch (keyword) {
    case '$schema':
    case 'propertyNames':
      return true
    case 'additionalProperties':
      return value === false
    case 'anyOf':
      return source['x-kubernetes-int-or-string'] === true
    case 'minLength':
    case 'pattern':
      return hasRule // the rule refuses the same in words that name the fix
    case 'minimum':
    case 'maximum':
      return !(Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER) // z.int() states the range of a double
    default:
      return false
  }
}

function eachProperty(
  properties: Readonly<Record<string, unknown>>,
  path: string,
): Readonly<Record<string, StructuralSchema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const at = `${path}.${name}`
      return [name, structural(asSchema(schema, at), at)]
    }),
  )
}

function asSchema(value: unknown, path: string): JsonSchema {
  if (isSchema(value)) return value
  throw new Error(`${path} has no schema of its own: a structural schema needs a type for everything`)
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

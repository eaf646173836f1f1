import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { foreignDefinitions } from '../../src/main/crd/foreign-definitions.ts'
import { renderDefinitions, renderForeignDefinitions } from '../../src/main/crd/render-definitions.ts'
import { resourceDefinitions } from '../../src/main/crd/resource-definitions.ts'
import { structuralSchema } from '../../src/main/crd/structural-schema.ts'
import { repository } from './planted-tree.ts'

describe('deploy/crds', () => {
  test.each([
    ['deploy/crds', renderDefinitions()],
    ['deploy/foreign-crds', renderForeignDefinitions()],
  ])('%s is what src/api says: run make crds', (path, rendered) => {
    const folder = join(repository, path)
    const committed = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
    expect(committed).toEqual(new Map(rendered))
  })

  test('holds no keyword the API server refuses or ignores', () => {
    const text = JSON.stringify([...resourceDefinitions(), ...foreignDefinitions()])
    for (const keyword of ['$ref', 'anyOf', 'oneOf', '"additionalProperties":false', '(?=', '9007199254740991']) {
      expect(text).not.toContain(keyword)
    }
  })
})

describe('structuralSchema', () => {
  const cases: readonly { what: string; schema: z.ZodType; becomes: object }[] = [
    { what: 'an integer without the range of a double', schema: z.int(), becomes: { type: 'integer' } },
    { what: 'its own bounds', schema: z.int().min(0).max(7), becomes: { type: 'integer', minimum: 0, maximum: 7 } },
    {
      what: 'an object without a word on further fields',
      schema: z.strictObject({ a: z.string().max(3).optional() }),
      becomes: { type: 'object', properties: { a: { type: 'string', maxLength: 3 } } },
    },
    {
      what: 'a record',
      schema: z.record(z.string(), z.string()),
      becomes: { type: 'object', additionalProperties: { type: 'string' } },
    },
    {
      what: 'a pattern, where no rule says it in words',
      schema: z.string().regex(/^a$/),
      becomes: { type: 'string', pattern: '^a$' },
    },
    {
      what: 'the rule, where there is one',
      schema: z
        .string()
        .min(1)
        .regex(/^a$/)
        .meta({ 'x-kubernetes-validations': [{ rule: 'r', message: 'm' }] }),
      becomes: { type: 'string', 'x-kubernetes-validations': [{ rule: 'r', message: 'm' }] },
    },
  ]
  test.each(cases)('keeps $what', ({ schema, becomes }) => {
    expect(structuralSchema(schema)).toEqual(becomes)
  })

  test('refuses what a CRD cannot say, naming the place', () => {
    const union = z.strictObject({ a: z.union([z.string(), z.boolean()]) })
    expect(() => structuralSchema(union)).toThrow('.a uses "anyOf"')
  })
})

import { describe, expect, it } from 'vitest'
import { type FieldSchema, missingFields } from './missing-fields.ts'

const text: FieldSchema = { type: 'string' }
const wanted: FieldSchema = {
  type: 'object',
  properties: {
    spec: {
      properties: {
        mode: { type: 'string', enum: ['Fast', 'Slow'] },
        steps: { type: 'array', items: { properties: { name: text, after: text } } },
        byNode: { type: 'object', additionalProperties: { properties: { since: text } } },
      },
    },
  },
}

const spec = (properties: Readonly<Record<string, FieldSchema>>): FieldSchema => ({
  properties: { spec: { properties: { ...wanted.properties?.spec?.properties, ...properties } } },
})

describe('missingFields', () => {
  const cases: readonly (readonly [what: string, found: FieldSchema, missing: readonly string[]])[] = [
    ['the same', wanted, []],
    ['a newer one', { properties: { ...wanted.properties, status: text } }, []],
    ['one without a branch', { properties: {} }, ['spec']],
    [
      'one without a field in a list',
      spec({ steps: { items: { properties: { name: text } } } }),
      ['spec.steps[].after'],
    ],
    ['one without a field in a map', spec({ byNode: { additionalProperties: {} } }), ['spec.byNode.*.since']],
    ['one without a word', spec({ mode: { enum: ['Fast'] } }), ['spec.mode=Slow']],
    ['one that allows every word', spec({ mode: text }), []],
    ['one with more words', spec({ mode: { enum: ['Fast', 'Slow', 'Later'] } }), []],
    ['one that takes anything', { 'x-kubernetes-preserve-unknown-fields': true }, []],
    ['a map of anything', spec({ byNode: { additionalProperties: true } }), []],
  ]
  it.each(cases)('compares with %s', (_, found, missing) => {
    expect(missingFields(wanted, found)).toEqual(missing)
  })
})

import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { manifestOf, nameFor } from './manifest.ts'

const usual = { name: 'to-1-36-3', version: 'v1.36.3', strategy: 'Canary', maxUnavailable: '' } as const

test('the manifest is what kubectl would take', () => {
  expect(manifestOf(usual)).toBe(
    [
      'apiVersion: slipway.dev/v1alpha1',
      'kind: DirectUpdate',
      'metadata:',
      '  name: to-1-36-3',
      'spec:',
      '  kubernetes:',
      '    version: v1.36.3',
      '  strategy:',
      '    type: Canary',
      '',
    ].join('\n'),
  )
})

test.each([
  ['10%', '10%'],
  ['3', 3],
  [' 25% ', '25%'],
])('maxUnavailable %s is read as %s', (typed, read) => {
  expect(parse(manifestOf({ ...usual, maxUnavailable: typed })).spec.strategy.maxUnavailable).toBe(read)
})

test.each(['1.36', '1.36.x', 'x: y\nspec: {}', '*', '"', 'yes', '# no'])(
  '%j stays a text, whatever YAML would make of it',
  (typed) => {
    const read = parse(manifestOf({ ...usual, name: typed, version: typed }))
    expect([read.metadata.name, read.spec.kubernetes.version]).toEqual([typed, typed])
  },
)

test.each([
  ['v1.36.3', 'to-1-36-3'],
  [' 1.36.* ', 'to-1-36'],
  ['', ''],
  ['***', ''],
])('%j gets the name %j', (version, name) => {
  expect(nameFor(version)).toBe(name)
})

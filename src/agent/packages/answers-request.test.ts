import { expect, it } from 'vitest'
import { answersRequest } from './answers-request.ts'

const staged = {
  packages: [{ name: 'a', architecture: 'all', version: '2.0-1', wanted: true, held: true, automatic: false }],
  removals: [{ name: 'gone', previous: '1.0', purge: false }],
}

it.each([
  ['nothing', true, { wanted: [] }],
  ['a package', true, { wanted: [{ name: 'a' }] }],
  ['its version', true, { wanted: [{ name: 'a', version: '2.0' }] }],
  ['another version', false, { wanted: [{ name: 'a', version: '2.1' }] }],
  ['its hold', true, { wanted: [{ name: 'a', hold: true }] }],
  ['no hold', false, { wanted: [{ name: 'a', hold: false }] }],
  ['a package besides', false, { wanted: [{ name: 'a' }, { name: 'b' }] }],
  ['a removal', true, { wanted: [], unwanted: [{ name: 'gone', purge: false }] }],
  ['a removal besides', false, { wanted: [], unwanted: [{ name: 'a', purge: false }] }],
] as const)('asked for %s: %s', (_, answers, request) => {
  expect(answersRequest(staged, request)).toBe(answers)
})

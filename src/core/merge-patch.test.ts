import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalJson, mergePatch } from './merge-patch.ts'

/** RFC 7386, section 2, word by word. */
function applyPatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const fields = new Map(
    typeof target === 'object' && target !== null && !Array.isArray(target) ? Object.entries(target) : [],
  )
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) fields.delete(key)
    else fields.set(key, applyPatch(fields.get(key), value))
  }
  return Object.fromEntries(fields)
}

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

// Null inside an object means "remove" to a merge patch, so no value of ours carries it.
const key = fc.constantFrom('a', 'b', 'c', 'd', 'toString', 'constructor')
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(0, 1, '', 'x', true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}))
const document = fc.dictionary(key, fc.option(json, { nil: undefined }), { maxKeys: 5 })

describe('a merge patch', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['nothing changed', { a: { b: 1 } }, { a: { b: 1 } }, undefined],
    ['order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
    ['only the changed field', { a: 1, b: { c: 1, d: 1 } }, { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2 } }],
    ['a new field', {}, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a new empty object', {}, { a: {} }, { a: {} }],
    ['a field gone', { a: 1, b: 2 }, { a: 1 }, { b: null }],
    ['a field set to undefined is gone', { a: 1 }, { a: undefined }, { a: null }],
    ['undefined before and after', { a: undefined }, {}, undefined],
    ['a list is sent whole', { a: [1, 2, 3] }, { a: [1, 2] }, { a: [1, 2] }],
    ['an equal list is not', { a: [{ b: 1 }] }, { a: [{ b: 1 }] }, undefined],
    ['an object for a scalar', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a list for an object', { a: { b: 1 } }, { a: [] }, { a: [] }],
    ['a whole object where there was none', undefined, { a: 1 }, { a: 1 }],
  ])('%s', (_name, before, after, patch) => {
    expect(mergePatch(before, after)).toStrictEqual(patch)
  })

  it('does not look into what is the very same', () => {
    const shared = new Proxy({}, { ownKeys: () => expect.unreachable() })
    expect(mergePatch({ shared, a: 1 }, { shared, a: 2 })).toEqual({ a: 2 })
  })

  it('applied to before gives after, and is undefined exactly when they are equal', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = mergePatch(before, after)
        expect(patch === undefined).toBe(equalJson(before, after))
        const sent = patch === undefined ? {} : overTheWire(patch)
        expect(applyPatch(overTheWire(before), sent)).toEqual(overTheWire(after))
      }),
      { numRuns: 500 },
    )
  })

  it('sends nothing that is the same already', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = mergePatch(before, after)
        for (const field of Object.keys(patch ?? {})) {
          expect(equalJson(Object.entries(before).find(([name]) => name === field)?.[1], after[field])).toBe(false)
        }
      }),
    )
  })
})

describe('equality as JSON', () => {
  it('is equality of what goes over the wire', () => {
    fc.assert(
      fc.property(document, document, (a, b) => {
        expect(equalJson(a, structuredClone(a))).toBe(true)
        const equal = isDeepStrictEqual(overTheWire(a), overTheWire(b))
        expect(equalJson(a, b)).toBe(equal)
        expect(equalJson(b, a)).toBe(equal)
      }),
    )
  })

  it.each<[unknown, unknown]>([
    [null, {}],
    [[], {}],
    [{ a: null }, {}],
    ['1', 1],
    [
      [1, 2],
      [2, 1],
    ],
  ])('%j and %j differ', (a, b) => {
    expect(equalJson(a, b)).toBe(false)
    expect(equalJson(b, a)).toBe(false)
  })
})

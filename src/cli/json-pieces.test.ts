import { describe, expect, it } from 'vitest'
import { type Piece, readPieces } from './json-pieces.ts'

describe('a large JSON object read in pieces', () => {
  it.each([
    {},
    { a: 1, b: 'x', c: null, d: { e: [1, { f: ']}' }] } },
    { list: [], more: [1, 'two', { three: [3] }, [4, [5]], null, true] },
    { 'a "quoted" key\\': ['with \\" and \\\\', '{[', ',', ':'] },
    { unicode: ['ß', '\u2028', '😀'], nested: { list: [1, 2] } },
  ])('is what the parser makes of it: %j', (value) => {
    for (const text of [JSON.stringify(value), `\n ${JSON.stringify(value, null, 2)} \n`]) {
      expect(readPieces(text, ({ value: one }) => one)).toEqual(value)
    }
  })

  it('hands over each element of a list with its place', () => {
    const seen: Piece[] = []
    readPieces('{"n": 1, "pods": [{"a": 1}, {"a": 2}]}', (piece) => seen.push(piece))
    expect(seen).toEqual([
      { key: 'n', value: 1 },
      { key: 'pods', index: 0, value: { a: 1 } },
      { key: 'pods', index: 1, value: { a: 2 } },
    ])
  })

  it.each([
    '',
    'x',
    '[]',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":[1,]}',
    '{"a":[1 2]}',
    '{"a":1} x',
    '{"a":"b',
    '{a:1}',
  ])('is refused where it is no JSON: %s', (text) => {
    expect(() => readPieces(text, ({ value }) => value)).toThrow(SyntaxError)
  })
})

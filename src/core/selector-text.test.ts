import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { selectorText, selects } from './label-selector.ts'
import { parseSelector } from './selector-text.ts'

describe('label selectors', () => {
  it.each([
    { text: 'pool=a', selector: { matchLabels: { pool: 'a' } } },
    { text: 'pool==a', selector: { matchLabels: { pool: 'a' } } },
    { text: 'example.com/pool=', selector: { matchLabels: { 'example.com/pool': '' } } },
    { text: 'pool!=a', selector: { matchExpressions: [{ key: 'pool', operator: 'NotIn', values: ['a'] }] } },
    {
      text: 'zone in (x, y),!gpu , ssd',
      selector: {
        matchExpressions: [
          { key: 'zone', operator: 'In', values: ['x', 'y'] },
          { key: 'gpu', operator: 'DoesNotExist' },
          { key: 'ssd', operator: 'Exists' },
        ],
      },
    },
    // Both must hold, so nothing can match; one must not replace the other.
    {
      text: 'a=1,a=2',
      selector: { matchLabels: { a: '1' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['2'] }] },
    },
  ])('$text', ({ text, selector }) => {
    expect(parseSelector(text)).toEqual(selector)
  })

  it.each(['', 'a=b=c', 'a in x', 'a,,b', '=x', 'a in (b c)', 'a b'])('refuses "%s"', (text) => {
    expect(() => parseSelector(text)).toThrow(/is not a label selector/)
  })

  it('means the same after it was written and read again', () => {
    const key = fc.constantFrom('a', 'b', 'example.com/c')
    const value = fc.constantFrom('', 'x', 'y', 'z-1')
    const expression = fc.oneof(
      fc.record({
        key,
        operator: fc.constantFrom('In' as const, 'NotIn' as const),
        values: fc.array(value, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
    )
    const selector = fc.record({
      matchLabels: fc.dictionary(key, value),
      matchExpressions: fc.array(expression, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(selector, fc.dictionary(key, value), (wanted, labels) => {
        const text = selectorText(wanted)
        const again = text === '' ? undefined : parseSelector(text)
        expect(selects(again, labels)).toBe(selects(wanted, labels))
      }),
    )
  })
})

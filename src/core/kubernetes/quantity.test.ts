import { expect, it } from 'vitest'
import { parseQuantity } from './quantity.ts'

it.each([
  ['0', 0],
  ['2', 2],
  ['250m', 0.25],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['1k', 1000],
  ['1Ki', 1024],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['2E', 2e18],
  ['1e3', 1000],
  ['12E2', 1200],
  ['100n', 1e-7],
  ['', undefined],
  ['Gi', undefined],
  ['1GiB', undefined],
  ['1 Gi', undefined],
])('the quantity %j', (text, amount) => {
  const found = parseQuantity(text)
  if (amount === undefined) expect(found).toBeUndefined()
  else expect(found).toBeCloseTo(amount, 12)
})

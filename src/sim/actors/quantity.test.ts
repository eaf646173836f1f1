import { expect, it } from 'vitest'
import { quantity } from './quantity.ts'

it.each([
  ['250m', 0.25],
  ['1.5', 1.5],
  ['1k', 1000],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['2E', 2e18],
  ['1e3', 1000],
  [2, 2],
  [undefined, 0],
  ['1GiB', 0],
])('the simulated scheduler takes %j for %d', (text, amount) => expect(quantity(text)).toBeCloseTo(amount, 12))

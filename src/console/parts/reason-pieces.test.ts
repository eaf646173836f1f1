import { expect, test } from 'vitest'
import { reasonPieces } from './reason-pieces.ts'

function names(message: string): readonly string[] {
  return reasonPieces(message)
    .filter(({ kind }) => kind === 'name')
    .map(({ text }) => text)
}

test.each([
  ['pod shop/checkout-7f9c4-x2x8p is Pending', ['shop/checkout-7f9c4-x2x8p']],
  ['PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed)', ['shop/checkout']],
  ['node w-1b-031 stays cordoned.', ['w-1b-031']],
  ['3.1 GiB needed under /var, 1.2 GiB free', ['/var']],
  ['/etc/cni/net.d is empty', ['/etc/cni/net.d']],
  ['kubelet did not report v1.36.3 within 5 m', ['v1.36.3']],
  ['read and/or write, 1/2 of them, well-known', []],
])('%s', (message, expected) => {
  expect(names(message)).toEqual(expected)
})

test('nothing is lost or added, markup least of all', () => {
  const message = 'pod shop/a-1: <img src=x onerror=alert(1)> of shop/b-2 & "others" v1.2.3'
  expect(
    reasonPieces(message)
      .map(({ text }) => text)
      .join(''),
  ).toBe(message)
})

import { expect, it } from 'vitest'
import { noFigures, proveCluster } from './preview-proof.ts'

const clusters = 20

it(`${clusters} plans come true; make proof-preview proves 500`, async () => {
  const figures = noFigures()
  const { signal } = new AbortController()
  for (let seed = 1; seed <= clusters; seed++) await proveCluster(seed, figures, signal)
  expect(figures).toMatchObject({
    clusters,
    unpredicted: [],
    certainThatDidNotHappen: [],
    otherWaves: [],
    otherOrder: [],
  })
  expect(figures.blocks).toBeGreaterThan(5)
  expect(figures.placesCalledCertain).toBeGreaterThan(20)
})

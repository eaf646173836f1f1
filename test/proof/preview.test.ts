import { expect, it } from 'vitest'
import { type Comparison, compare } from './compare.ts'
import { figuresOf } from './figures.ts'
import { simulatedOutcome } from './simulated-outcome.ts'

const clusters = 20

it(`${clusters} plans come true; make proof-preview proves 500`, async () => {
  const { signal } = new AbortController()
  const comparisons = new Map<string, Comparison>()
  for (let seed = 1; seed <= clusters; seed++)
    comparisons.set(`cluster ${seed}`, compare(await simulatedOutcome(seed, signal)))
  const figures = figuresOf(comparisons)
  const right = { unpredicted: [], certainThatDidNotHappen: [], otherWaves: [], otherOrder: [] }
  expect(figures).toMatchObject({ clusters, ...right })
  expect(figures.blocks).toBeGreaterThan(5)
  expect(figures.placesCalledCertain).toBeGreaterThan(20)
})

// Plans from a snapshot of a real API server, carried out there by the real scheduler and controllers.

import { describe, expect, test } from 'vitest'
import { whyNoApiServer } from '../bed/programs.ts'
import { compare } from '../proof/compare.ts'
import { realOutcome } from '../proof/real-outcome.ts'

const missing = await whyNoApiServer()
const right = { unpredicted: [], certainThatDidNotHappen: [], otherWaves: [], otherOrder: [] }

describe.skipIf(missing)('a plan of a real cluster', () => {
  const timeout = 1_500_000
  test('comes true; make proof-preview proves 20', { timeout }, async () => {
    const comparison = compare(await realOutcome(1, new AbortController().signal))
    expect(comparison).toMatchObject(right)
    expect(comparison.placesCalledCertain).toBeGreaterThan(0)
  })
})

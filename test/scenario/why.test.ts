// Whoever asks why gets the true cause in one sentence. Each situation is brought about in a cluster, not written down; and each
// code with which something can wait has its situation, or stands below with what it still lacks.

import { describe, expect, it } from 'vitest'
import { reasonGroups } from '../../src/api/reason.ts'
import { scenario } from './story.ts'
import { askAll } from './why-asking.ts'
import { drainingSituations } from './why-draining.ts'
import { waitingSituations } from './why-waiting.ts'

const situations = [...waitingSituations, ...drainingSituations]

/** Nothing says the first three yet; the last one passes within a moment, and is shown by the tests of the drain's order. */
const withoutSituation: ReadonlySet<string> = new Set([
  ...['ForeignLockHeld', 'ForeignLockUnknown', 'NodeOnHold'],
  'PodWaitsItsTurn',
])

describe('why', () => {
  for (const situation of situations) {
    scenario(situation.name, { nodes: 4, ...situation.options }, async (story) => {
      await situation.arrange(story)
      await askAll(story, situation)
    })
  }

  it('is asked sixty times', () => {
    expect(situations.flatMap(({ asked }) => asked).length).toBeGreaterThanOrEqual(60)
  })

  it('knows every code with which something can wait', () => {
    const asked = new Set<string>(situations.flatMap((situation) => situation.asked.map(({ code }) => code)))
    const codes = [...Object.keys(reasonGroups.waiting), ...Object.keys(reasonGroups.draining)]
    expect(codes.filter((code) => !asked.has(code) && !withoutSituation.has(code))).toEqual([])
    expect([...withoutSituation].filter((code) => asked.has(code) || !codes.includes(code))).toEqual([])
  })
})

// Whoever asks why gets the true cause in one sentence. Each situation is brought about in a cluster, not written down; and each
// code with which something can wait has its situation.

import { describe, expect, it } from 'vitest'
import { reasonGroups } from '../../src/api/reason.ts'
import { scenario } from './story.ts'
import { askAll } from './why-asking.ts'
import { controlPlaneSituations } from './why-control-plane.ts'
import { drainingSituations } from './why-draining.ts'
import { outsideSituations } from './why-outside.ts'
import { refusingSituations } from './why-refusing.ts'
import { stayingSituations } from './why-staying.ts'
import { waitingSituations } from './why-waiting.ts'

const situations = [
  ...waitingSituations,
  ...controlPlaneSituations,
  ...outsideSituations,
  ...drainingSituations,
  ...stayingSituations,
  ...refusingSituations,
]

describe('why', () => {
  for (const situation of situations) {
    scenario(situation.name, { nodes: 4, ...situation.options }, async (story) => {
      await situation.arrange(story)
      await askAll(story, situation)
    })
  }

  it('is asked in sixty situations', () => {
    expect(new Set(situations.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60)
  })

  it('knows every code with which something can wait', () => {
    const asked = new Set<string>(situations.flatMap((situation) => situation.asked.map(({ code }) => code)))
    const codes = [...Object.keys(reasonGroups.waiting), ...Object.keys(reasonGroups.draining)]
    expect(codes.filter((code) => !asked.has(code))).toEqual([])
  })
})

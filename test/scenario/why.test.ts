// Whoever asks why gets the true cause in one sentence. Each situation is brought about in a cluster, not written down; and each
// code with which something can wait has its situation.

import { afterAll, describe, expect, it } from 'vitest'
import { reasonGroups } from '../../src/api/reason.ts'
import { commitOfTree, keepResult, today } from '../proof/kept-results.ts'
import { scenario } from './story.ts'
import { askAll, type Situation } from './why-asking.ts'
import { backupSituations } from './why-backups.ts'
import { controlPlaneSituations } from './why-control-plane.ts'
import { drainingSituations } from './why-draining.ts'
import { hourSituations } from './why-hours.ts'
import { outsideSituations } from './why-outside.ts'
import { refusingSituations } from './why-refusing.ts'
import { restoredSituations } from './why-restored.ts'
import { stayingSituations } from './why-staying.ts'
import { waitingSituations } from './why-waiting.ts'

const situations = [
  ...waitingSituations,
  ...controlPlaneSituations,
  ...hourSituations,
  ...outsideSituations,
  ...drainingSituations,
  ...stayingSituations,
  ...refusingSituations,
  ...backupSituations,
  ...restoredSituations,
]

const codes = [...Object.keys(reasonGroups.waiting), ...Object.keys(reasonGroups.draining)]
const answered: Situation[] = []
const commit = commitOfTree()

/** Codes that were the answer in some of these. */
const codesOf = (some: readonly Situation[]) =>
  new Set<string>(some.flatMap(({ asked }) => asked.map(({ code }) => code)))

describe('why', () => {
  afterAll(() => {
    if (process.env.SLIPWAY_KEEP_FIGURES === undefined || answered.length < situations.length) return
    const asked = codesOf(answered)
    keepResult('why', {
      ...{ date: today(), commit, command: 'make proof-why', situations: answered.length },
      questions: answered.flatMap((situation) => situation.asked).length,
      ...{ codes: codes.length, codesAsked: codes.filter((code) => asked.has(code)).length },
    })
  })

  for (const situation of situations) {
    scenario(situation.name, { nodes: 4, ...situation.options }, async (story) => {
      await situation.arrange(story)
      await askAll(story, situation)
      answered.push(situation)
    })
  }

  it('is asked in sixty situations', () => {
    expect(new Set(situations.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60)
  })

  it('knows every code with which something can wait', () => {
    const asked = codesOf(situations)
    expect(codes.filter((code) => !asked.has(code))).toEqual([])
  })
})

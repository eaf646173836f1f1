import { describe, expect } from 'vitest'
import { scenario } from './story.ts'

describe("a person's cordon", () => {
  scenario('made before the update survives it', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.cordons('w2')
    await update.script('true').succeeds()
    expect(cluster.isCordoned('w2')).toBe(true)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  scenario('made during the update on a node not yet taken survives it', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const running = await update.script('true').hasDone(1)
    const last = 'w3'
    expect(cluster.state(last)?.status?.rollout).toBeUndefined()
    await person.cordons(last)
    await running.succeeds()
    expect(cluster.isCordoned(last)).toBe(true)
    expect(cluster.runs(last)).toBe(1)
    expect(cluster.names.filter((name) => cluster.isCordoned(name))).toEqual([last])
  })
})

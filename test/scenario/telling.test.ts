import { describe, expect } from 'vitest'
import type { DirectUpdate } from '../../src/api/direct-update.ts'
import { scenario } from './story.ts'
import type { StoryUpdate } from './story-update.ts'

function conditions(update: StoryUpdate): Readonly<Record<string, string>> {
  return Object.fromEntries((update.status.conditions ?? []).map(({ type, status }) => [type, status]))
}

describe('what a person is told', () => {
  scenario('of an update that succeeds', { nodes: 3 }, async ({ cluster, update }) => {
    const running = await update.script('true').starts()
    await running.hasDone(1)
    expect(conditions(running)).toMatchObject({
      Planned: 'True',
      Progressing: 'True',
      Reconciling: 'True',
      Stalled: 'False',
    })
    await running.succeeds()
    await cluster.pass(30_000)
    expect(conditions(running)).toEqual({
      Planned: 'True',
      Progressing: 'False',
      Blocked: 'False',
      Succeeded: 'True',
      Failed: 'False',
      Reconciling: 'False',
      Stalled: 'False',
    })
    const { generation } = running.object?.metadata ?? {}
    expect(running.status.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual(
      running.status.conditions?.map(() => generation),
    )
    expect(running.status).toMatchObject({ progress: '3/3', summary: { total: 3, done: 3, working: 0, waiting: 0 } })
    expect(running.status.finishedAt).toBeDefined()
    for (const name of cluster.names) expect(cluster.told('Node', name)).toEqual(['NodeTaken', 'NodeDone'])
    expect(cluster.told('DirectUpdate', 'update')).toEqual(['Started', 'Succeeded'])
  })

  scenario('never, of one that goes on as it should, that it is blocked or stalled', { nodes: 5 }, async (story) => {
    const { cluster, update } = story
    const told = new Set<string>()
    cluster.sim.server.onCommit(({ kind, after }) => {
      if (kind !== 'DirectUpdate' || !after) return
      for (const { type, status, message } of (after as DirectUpdate).status?.conditions ?? []) {
        if (status === 'True' && (type === 'Blocked' || type === 'Stalled')) told.add(`${type}: ${message}`)
      }
    })
    await update.script('true').succeeds()
    expect([...told]).toEqual([])
  })

  scenario('of an update that fails', { nodes: 3 }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    await cluster.pass(30_000)
    expect(conditions(failed)).toEqual({
      Planned: 'True',
      Progressing: 'False',
      Blocked: 'False',
      Succeeded: 'False',
      Failed: 'True',
      Reconciling: 'False',
      Stalled: 'True',
    })
    expect(cluster.told('Node', 'w1')).toEqual(['NodeTaken', 'StepFailed'])
    expect(cluster.told('Node', 'w2')).toEqual([])
    expect(cluster.told('DirectUpdate', 'update')).toEqual(['Started', 'NodesFailed'])
  })
})

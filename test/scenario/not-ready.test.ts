import { describe, expect } from 'vitest'
import type { DirectUpdate, UpdateCondition } from '../../src/api/direct-update.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

async function falls(cluster: StoryCluster, name: string): Promise<void> {
  cluster.machine(name).losePower()
  await cluster.until(`${name} is not Ready`, () =>
    (cluster.node(name)?.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status !== 'True'),
  )
}

function reasonOf({ message }: UpdateCondition): string {
  return message
}

describe('a worker that is not Ready', () => {
  const two = { strategy: { maxUnavailable: 2 } }

  scenario('is waited for and named; back again, it is done too', { nodes: 4 }, async ({ cluster, update }) => {
    await falls(cluster, 'w2')
    const waiting = await update.script('true', two).hasDone(3)
    await waiting.is('InProgress', 'NodeNotReady')
    await cluster.pass(600_000)
    expect(waiting.condition('Blocked')).toMatchObject({ status: 'True', reason: 'NodeNotReady' })
    expect(waiting.condition('Blocked')?.message).toContain('w2')
    expect(waiting.status.summary).toMatchObject({ total: 4, done: 3, waiting: 1 })
    expect(cluster.isCordoned('w2')).toBe(false)
    cluster.machine('w2').powerOn()
    await waiting.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('counts against the limit of the update, which says so', { nodes: 4 }, async ({ cluster, update }) => {
    await falls(cluster, 'w2')
    const waiting = await update.script('true').is('InProgress', 'BudgetSpent')
    expect(waiting.condition('Blocked')?.message).toBe(
      'the update works on 1 node(s) at once (strategy.maxUnavailable); w2 is not Ready and counted',
    )
    await cluster.pass(600_000)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 0, w3: 0 })
    cluster.machine('w2').powerOn()
    await waiting.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('does not make an update look stalled whose other nodes can go', { nodes: 4 }, async (story) => {
    const { cluster, update } = story
    await falls(cluster, 'w2')
    const stalled: string[] = []
    cluster.sim.server.onCommit(({ kind, after }) => {
      const { conditions = [] } = (kind === 'DirectUpdate' && (after as DirectUpdate).status) || {}
      stalled.push(...conditions.filter(({ type, status }) => type === 'Stalled' && status === 'True').map(reasonOf))
    })
    const running = update.script('true', two)
    await running.hasDone(2)
    expect(stalled).toEqual([])
  })

  scenario('and is deleted: the update ends without it', { nodes: 4 }, async ({ cluster, update, person }) => {
    await falls(cluster, 'w2')
    const waiting = await update.script('true', two).hasDone(3)
    await waiting.is('InProgress', 'NodeNotReady')
    await person.deletesNode('w2')
    await waiting.succeeds()
    expect(waiting.status.summary).toMatchObject({ total: 3, done: 3 })
    expect(cluster.runs('w2')).toBe(0)
  })

  scenario('counts against the budget of all the others', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    await falls(cluster, 'w2')
    // No watch is faster than its way: what fell a moment ago is not known yet.
    await cluster.pass(1_000)
    const waiting = await update.script('true').is('InProgress', 'BudgetAllowsNothing')
    expect(waiting.condition('Blocked')?.message).toContain('w2')
    await cluster.pass(600_000)
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0, w3: 0 })
    cluster.machine('w2').powerOn()
    await waiting.succeeds()
  })

  scenario(
    'loses its power in the middle of the work: the script runs again from the start',
    { nodes: 3 },
    async (story) => {
      const { cluster, update } = story
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Working')
      cluster.machine('w1').losePowerFor(30_000)
      await running.succeeds()
      const outcomes = cluster.machine('w1').host.executions.map(({ outcome }) => outcome)
      expect(outcomes).toEqual(['power-lost', 'exited'])
    },
  )
})

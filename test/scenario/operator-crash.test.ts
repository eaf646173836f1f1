import { describe, expect, it } from 'vitest'
import { play, type Story, type StoryOptions, scenario } from './story.ts'
import { writtenKind } from './written-kinds.ts'

/** An update from its creation to its deletion, with something to drain on the way. */
async function wholeLife({ cluster, update, person }: Story): Promise<void> {
  await person.deploys({ name: 'web', replicas: 3, maxUnavailable: 1 })
  await cluster.pass(5_000)
  const done = await update.script('true').succeeds()
  expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  expect(cluster.ledger.grants).toEqual([])
  await done.isDeleted()
  await done.isGone()
  expect(cluster.taken).toEqual([])
}

const options: StoryOptions = { nodes: 3, operators: 1 }

describe('the operator dies', () => {
  it('at each of its writes, before or after it took effect: every node is done exactly once', async () => {
    const kinds = new Set<string>()
    let writes = 0
    await play(options, async (story) => {
      story.cluster.sim.server.onCommit((change) => {
        if (change.client.startsWith('operator/')) kinds.add(writtenKind(change))
      })
      await wholeLife(story)
      writes = story.faults.count('operator', 'write')
    })
    expect([...kinds]).toEqual(
      expect.arrayContaining(['ledger', 'cordon', 'rollout', 'order', 'uncordon', 'status', 'finalizer']),
    )
    expect(writes).toBeGreaterThan(20)
    for (let nth = 1; nth <= writes; nth++) {
      await play({ ...options, crash: { victim: 'operator', before: 'write', nth } }, wholeLife)
      await play({ ...options, crash: { victim: 'operator', after: 'write', nth } }, wholeLife)
    }
  })

  scenario(
    'after booking a slot: the next one finds it booked and goes on',
    { nodes: 3, operators: 2, crash: { victim: 'operator', after: 'patch MaintenancePolicy' } },
    async ({ cluster, update }) => {
      const { epoch } = cluster.ledger
      await update.script('true').succeeds()
      expect(cluster.ledger.epoch).toBeGreaterThan(epoch)
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
    },
  )

  scenario(
    'after writing an order: the order is not written again',
    { nodes: 3, operators: 2, crash: { victim: 'operator', after: 'patch NodeState', nth: 3 } },
    async ({ cluster, update }) => {
      let orders = 0
      cluster.sim.server.onCommit((change) => {
        if (writtenKind(change) === 'order') orders++
      })
      await update.script('true').succeeds()
      expect(orders).toBe(3)
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
    },
  )
})

// Agents that go for good while their nodes stay Ready, before anything was begun there: nobody is away, and nobody is kept up.

import { describe, expect } from 'vitest'
import { scenario } from './story.ts'

const tolerant = { nodeTimeout: '5m', strategy: { maxFailures: 2 } } as const

describe('agents that never take what their nodes are to stage', () => {
  scenario('keep no other node from an update that tolerates failures', { nodes: 5 }, async (story) => {
    const { cluster, update, faults } = story
    for (const name of ['w1', 'w2']) {
      faults.keepAway(name)
      cluster.machine(name).agent?.crash()
    }
    const running = update.kubernetes('v1.36.3', tolerant)
    for (const name of ['w1', 'w2']) await cluster.nodeIs(name, 'RequiresAttention', 'OrderTimedOut')
    expect(running.status.summary).toMatchObject({ done: 1 })
    await running.hasDone(3)
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.taken).toEqual([])
    await running.is('RequiresAttention')
  })
})

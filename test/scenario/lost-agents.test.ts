// Agents that go for good while their nodes stay Ready, before anything was begun there: nobody is away, and nobody is kept up.

import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scenario } from './story.ts'

const tolerant = { nodeTimeout: '5m', strategy: { maxFailures: 2 } } as const
const fetches = () => new Promise<never>(() => undefined)

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

describe('agents that took what their nodes are to stage, and went', () => {
  const driversOf = (node: string) =>
    rehearsalDrivers.map((driver) => (node === 'w1' || node === 'w2' ? { ...driver, stage: fetches } : driver))

  scenario('keep no other node from an update that tolerates failures', { nodes: 5, driversOf }, async (story) => {
    const { cluster, update, faults } = story
    const running = update.kubernetes('v1.36.3', tolerant)
    for (const name of ['w1', 'w2']) {
      await cluster.until(`${name} fetches`, () => cluster.state(name)?.status?.agent?.order?.state === 'Accepted')
      faults.keepAway(name)
      cluster.machine(name).agent?.crash()
    }
    await running.is('InProgress', 'NodesStaging')
    await cluster.pass(600_000)
    for (const name of ['w1', 'w2']) await cluster.nodeIs(name, 'RequiresAttention', 'OrderTimedOut')
    await running.hasDone(3)
    expect(cluster.taken).toEqual([])
    await running.is('RequiresAttention')
  })
})

// A node that does not come back is waited for, holds its slot, and is shown to a person in good time.

import { describe, expect } from 'vitest'
import { nodes } from '../../src/api/kube.ts'
import { type Story, scenario } from './story.ts'

const timeLimits = { nodeTimeout: '15m' }

async function callsForAPerson({ cluster }: Story, code: string): Promise<void> {
  const { reason } = await cluster.nodeIs('w1', 'RequiresAttention', code)
  expect(reason?.message).toContain('w1 is not Ready')
  await cluster.pass(3_600_000)
  expect(cluster.taken).toEqual(['w1'])
  expect(cluster.ledger.grants).toHaveLength(1)
  expect(cluster.allRuns).toMatchObject({ w2: 0, w3: 0 })
}

describe('a node that never comes back', () => {
  scenario('a machine that does not return from its work calls for a person', { nodes: 4 }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true', timeLimits)
    await cluster.nodeIs('w1', 'Working')
    cluster.machine('w1').losePower()
    await cluster.pass(15 * 60_000)
    await running.is('RequiresAttention')
    await callsForAPerson(story, 'OrderTimedOut')
    cluster.machine('w1').powerOn()
    await running.is('Failed')
    await running.isRetried('repaired')
    await running.succeeds()
  })

  scenario('a kubelet that does not return calls for a person', { nodes: 4 }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true', timeLimits)
    await cluster.nodeIs('w1', 'Working')
    const conditions = [{ type: 'Ready', status: 'False', message: 'the network is not ready' }]
    const body = { status: { conditions } }
    cluster.sim.server.patch('person', nodes, { name: 'w1' }, { type: 'merge', body }, 'status')
    await cluster.nodeIs('w1', 'Verifying', 'WaitingForHealth')
    cluster.machine('w1').losePower()
    await cluster.pass(15 * 60_000)
    await running.is('RequiresAttention')
    await callsForAPerson(story, 'WaitingForHealth')
    cluster.machine('w1').powerOn()
    await running.succeeds()
  })
})

// A node that does not come back is waited for, holds its slot, and is shown to a person in good time.

import { describe, expect } from 'vitest'
import { leases, nodes } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
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

function sayReady({ cluster }: Story, status: 'True' | 'False'): void {
  const conditions = [{ type: 'Ready', status, message: 'the network is not ready' }]
  cluster.sim.server.patch(
    'person',
    nodes,
    { name: 'w1' },
    { type: 'merge', body: { status: { conditions } } },
    'status',
  )
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
    sayReady(story, 'False')
    await cluster.nodeIs('w1', 'Verifying', 'WaitingForHealth')
    cluster.machine('w1').losePower()
    await cluster.pass(15 * 60_000)
    await running.is('RequiresAttention')
    await callsForAPerson(story, 'WaitingForHealth')
    cluster.machine('w1').powerOn()
    await running.succeeds()
  })

  // The fourth time the operator patches a Node, it puts w1 back.
  const crash = { victim: 'operator', after: 'patch Node', nth: 4 } as const
  scenario(
    'a node that came back after all is done, though its operator died as it put it back and the kubelet falters',
    { nodes: 3, crash },
    async (story) => {
      const { cluster, update, faults } = story
      const running = update.script('true', timeLimits)
      await cluster.nodeIs('w1', 'Working')
      sayReady(story, 'False')
      await cluster.nodeIs('w1', 'Verifying', 'WaitingForHealth')
      cluster.machine('w1').losePower()
      await cluster.pass(15 * 60_000)
      await cluster.nodeIs('w1', 'RequiresAttention')
      cluster.machine('w1').powerOn()
      await cluster.until('the operator dies', () => faults.struck !== undefined && cluster.taken.length === 0)
      sayReady(story, 'False')
      await cluster.pass(60_000)
      await running.succeeds()
      expect(cluster.told('Node', 'w1')).not.toContain('Failed')
    },
  )
})

describe('a node whose Lease the operator may not read', () => {
  const forbidden = new KubeError('Forbidden', 'leases.coordination.k8s.io is forbidden', { status: 403 })
  const unreadable = (name: string) =>
    new RegExp(`^Lease ${name} cannot be read: .*is forbidden; slipway install gives`)

  scenario('says so, and goes on when it can be read', { nodes: 3 }, async ({ cluster, update, faults }) => {
    faults.refuse('watch', forbidden, leases)
    const running = update.kubernetes('v1.36.3')
    const { reason, deadline } = await cluster.nodeIs('cp1', 'Verifying', 'WaitingForHealth')
    expect(reason?.message).toMatch(unreadable('kube-node-lease/cp1'))
    expect(deadline).toBeDefined()
    faults.allow('watch')
    await running.succeeds()
  })

  scenario('calls for a person when its time is over', { nodes: 3 }, async ({ cluster, update, faults }) => {
    faults.refuse('watch', forbidden, leases)
    const running = update.kubernetes('v1.36.3', { nodeTimeout: '5m' })
    const { reason } = await cluster.nodeIs('cp1', 'RequiresAttention', 'WaitingForHealth')
    expect(reason?.message).toMatch(unreadable('kube-node-lease/cp1'))
    faults.allow('watch')
    await running.succeeds()
  })

  scenario('is put back when its update is deleted', { nodes: 3 }, async ({ cluster, update, faults }) => {
    faults.refuse('watch', forbidden, leases)
    const running = update.kubernetes('v1.36.3')
    await cluster.nodeIs('cp1', 'Verifying', 'WaitingForHealth')
    await running.isDeleted()
    await running.isGone()
    expect(cluster.taken).toEqual([])
  })
})

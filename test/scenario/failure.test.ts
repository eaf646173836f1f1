import { describe, expect } from 'vitest'
import { nodes } from '../../src/api/kube.ts'
import { releasingPatch } from '../../src/core/steering/hold-node.ts'
import { scenario } from './story.ts'
import { scriptOf } from './story-update.ts'

describe('a script that fails', () => {
  scenario(
    'its node stays cordoned with the last lines as reason, and no other starts',
    { nodes: 4 },
    async (story) => {
      const { cluster, update } = story
      cluster.failing.add('w1')
      const failed = await update.script('true').fails()
      const { reason } = await cluster.nodeIs('w1', 'Failed', 'StepFailed')
      expect(reason?.message).toMatch(/exit code 1; its last lines: .*exit 1/)
      await cluster.pass(600_000)
      expect(cluster.taken).toEqual(['w1'])
      expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 0, w3: 0 })
      expect(failed.condition('Failed')).toMatchObject({ status: 'True', reason: 'NodesFailed' })
      expect(failed.status.summary).toMatchObject({ done: 1, failed: 1, waiting: 2 })
      expect(failed.status.nodes?.[0]).toMatchObject({ name: 'w1', phase: 'Failed', reason: { code: 'StepFailed' } })
    },
  )

  scenario('a validation script runs after it on every node', { nodes: 3 }, async ({ cluster, update }) => {
    await update.keepScript('test -e /done')
    const script = { ...scriptOf('touch /done'), validate: scriptOf('test -e /done') }
    await update.script('touch /done', { script }).succeeds()
    for (const name of ['cp1', 'w1', 'w2']) {
      const steps = cluster.state(name)?.status?.agent?.order?.steps
      const all = steps
        ?.map((step) => `${step.name} ${step.state}`)
        .filter((step) => !step.startsWith('move-etcd-leader'))
      expect(all).toEqual(['script Succeeded', 'validate Succeeded'])
    }
  })

  scenario('a validation script that is missing is said before any node is touched', { nodes: 2 }, async (story) => {
    const { cluster, update } = story
    const script = { ...scriptOf('true'), validate: scriptOf('nobody wrote this') }
    await update.script('true', { script }).is('Pending', 'ScriptMissing')
    expect(cluster.taken).toEqual([])
  })

  scenario('deleting the update puts the node back', { nodes: 3 }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    await failed.isDeleted()
    await failed.isGone()
    expect(cluster.isCordoned('w1')).toBe(false)
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.state('w1')?.status?.rollout).toBeUndefined()
  })

  scenario('naming another script releases the node and runs that one everywhere', { nodes: 3 }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w1')
    const failed = await update.script('false').fails()
    const first = failed.status.operationID
    cluster.failing.clear()
    await update.keepScript('true')
    await failed.isEdited({ script: scriptOf('true') })
    await failed.succeeds()
    expect(failed.status.operationID).not.toBe(first)
    expect(failed.status.history).toMatchObject([{ operationID: first, phase: 'Failed' }])
    expect(cluster.allRuns).toEqual({ cp1: 2, w1: 2, w2: 1 })
    expect(cluster.taken).toEqual([])
  })

  scenario('as many as are tolerated do not stop the others', { nodes: 4 }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true', { strategy: { maxFailures: 1 } }).fails()
    expect(failed.status.summary).toMatchObject({ done: 3, failed: 1, waiting: 0 })
    expect(cluster.taken).toEqual(['w1'])
  })
})

describe('a journal that is damaged', () => {
  const folder = '/var/lib/slipway/orders'

  scenario('asks for a person with the path, others wait; repaired, it goes on', { nodes: 4 }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    const machine = cluster.machine('w1')
    const [order = ''] = await machine.disk.names(folder)
    const path = `${folder}/${order}/order.json`
    const whole = (await machine.disk.read(path)) ?? ''
    await machine.disk.write(path, `${whole.slice(0, 40)}\u0000garbage`, 0o600)
    machine.agent?.crash()
    const { reason } = await cluster.nodeIs('w1', 'RequiresAttention', 'JournalCorrupt')
    expect(reason?.message).toContain(path)
    await running.is('RequiresAttention')
    await cluster.pass(600_000)
    expect(cluster.allRuns).toMatchObject({ w2: 0, w3: 0 })
    expect(cluster.taken).toEqual(['w1'])
    await machine.disk.write(path, whole, 0o600)
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('its node released, the others go on without it, and that it failed stands', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    const running = update.script('true', { strategy: { maxFailures: 1 } })
    await cluster.nodeIs('w1', 'Working')
    const machine = cluster.machine('w1')
    const [order = ''] = await machine.disk.names(folder)
    await machine.disk.write(`${folder}/${order}/order.json`, 'garbage', 0o600)
    machine.agent?.crash()
    await cluster.nodeIs('w1', 'RequiresAttention', 'JournalCorrupt')
    const node = cluster.node('w1')
    await person.changes(nodes, 'w1', (node && releasingPatch(node, cluster.state('w1'))) ?? {})
    await cluster.nodeIs('w1', 'Failed', 'JournalCorrupt')
    await running.fails()
    expect(running.status.summary).toMatchObject({ done: 2, failed: 1 })
    await cluster.until('all slots are back', () => cluster.ledger.grants.length === 0)
    expect(cluster.taken).toEqual([])
  })

  scenario('its node released and then repaired, it does not go on without its slot', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await update.keepScript('test -e /done')
    const script = { ...scriptOf('touch /done'), validate: scriptOf('test -e /done') }
    const running = update.script('touch /done', { script, strategy: { maxFailures: 1 } })
    await cluster.nodeIs('w1', 'Working')
    const machine = cluster.machine('w1')
    const [order = ''] = await machine.disk.names(folder)
    const path = `${folder}/${order}/order.json`
    const whole = (await machine.disk.read(path)) ?? ''
    await machine.disk.write(path, 'garbage', 0o600)
    machine.agent?.crash()
    await cluster.nodeIs('w1', 'RequiresAttention', 'JournalCorrupt')
    const node = cluster.node('w1')
    await person.changes(nodes, 'w1', (node && releasingPatch(node, cluster.state('w1'))) ?? {})
    await cluster.nodeIs('w2', 'Working')
    const before = machine.host.executions.length
    await machine.disk.write(path, whole, 0o600)
    await running.fails()
    expect(machine.host.executions.slice(before)).toEqual([])
    await cluster.nodeIs('w1', 'Failed', 'JournalCorrupt')
    expect(cluster.state('w1')?.status?.agent?.order?.state).toBe('Withdrawn')
    expect(running.status.summary).toMatchObject({ done: 3, failed: 1 })
    expect(cluster.ledger.grants).toEqual([])
    expect(cluster.taken).toEqual([])
  })

  scenario(
    'the update deleted, its node is put back; the folder removed, the next goes on',
    { nodes: 3 },
    async (story) => {
      const { cluster, update } = story
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Working')
      const machine = cluster.machine('w1')
      const [order = ''] = await machine.disk.names(folder)
      await machine.disk.write(`${folder}/${order}/order.json`, 'garbage', 0o600)
      machine.agent?.crash()
      await running.is('RequiresAttention')
      await running.isDeleted()
      await running.isGone()
      expect(cluster.taken).toEqual([])
      expect(cluster.ledger.grants).toEqual([])
      const next = update.script('true', { name: 'next' })
      await cluster.nodeIs('w1', 'RequiresAttention', 'JournalCorrupt')
      await machine.disk.removeFolder(`${folder}/${order}`)
      await next.succeeds()
      expect(cluster.allRuns).toEqual({ cp1: 2, w1: 2, w2: 1 })
    },
  )
})

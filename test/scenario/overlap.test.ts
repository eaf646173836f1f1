import { describe, expect } from 'vitest'
import type { Node } from '../../src/api/kube.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

describe('two updates at once', () => {
  scenario(
    'each does each node once, and neither comes back to life',
    { nodes: 5, operators: 2 },
    async ({ cluster, update }) => {
      const first = await update.script('one', { name: 'first', strategy: { maxUnavailable: 2 } }).hasDone(1)
      const second = await update.script('two', { name: 'second', strategy: { maxUnavailable: 2 } }).starts()
      await first.succeeds()
      await second.succeeds()
      const twice = { cp1: 2, w1: 2, w2: 2, w3: 2, w4: 2 }
      expect(cluster.allRuns).toEqual(twice)
      const ids = [first.status.operationID, second.status.operationID]
      await cluster.pass(600_000)
      for (const operator of cluster.sim.programs()) operator.crash()
      await cluster.pass(600_000)
      expect(cluster.allRuns).toEqual(twice)
      expect([first.status.operationID, second.status.operationID]).toEqual(ids)
      expect([first.status.phase, second.status.phase]).toEqual(['Succeeded', 'Succeeded'])
      expect(first.status.summary).toMatchObject({ total: 5, done: 5 })
    },
  )

  scenario('share some nodes: only those are done twice', { nodes: 5 }, async ({ cluster, update, person }) => {
    for (const node of ['w1', 'w2', 'w3']) await person.labels(node, { first: '' })
    for (const node of ['w2', 'w3', 'w4']) await person.labels(node, { second: '' })
    const pool = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' as const }] })
    const first = update.script('one', { name: 'first', nodeSelector: pool('first') })
    const second = update.script('two', { name: 'second', nodeSelector: pool('second') })
    await first.succeeds()
    await second.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 1, w2: 2, w3: 2, w4: 1 })
  })

  scenario('the older version brings no node back that has the newer one', { nodes: 3 }, async (story) => {
    const { cluster, update } = story
    const older = await update.kubernetes('v1.36.0', { name: 'older' }).starts()
    await older.isEdited({ desiredState: 'Paused' })
    await update.kubernetes('v1.36.3', { name: 'newer' }).succeeds()
    await older.isEdited({ desiredState: 'Running' })
    await cluster.until(
      'it says why it does not go on',
      () => older.condition('Blocked')?.message.includes('runs a version newer than v1.36.0') === true,
    )
    await cluster.pass(600_000)
    const versions = cluster.names.map((name) => cluster.node(name)?.status?.nodeInfo?.kubeletVersion)
    expect(versions).toEqual(['v1.36.3', 'v1.36.3', 'v1.36.3'])
    await older.isEdited({ skip: [...cluster.names] })
    await older.is('Succeeded')
  })

  scenario('one that fails holds its node; the other waits for it and says so', { nodes: 4 }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w1')
    const first = await update.script('one', { name: 'first' }).fails()
    cluster.failing.clear()
    const second = await update.script('two', { name: 'second' }).is('InProgress', 'NodeHeldElsewhere')
    expect(second.condition('Blocked')?.message).toContain('w1')
    await first.isDeleted()
    await first.isGone()
    await second.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 2, w1: 2, w2: 1, w3: 1 })
  })

  scenario('the last worker is left alone until the other one is back', { nodes: 3 }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const first = await update.script('one', { name: 'first' }).fails()
    cluster.failing.clear()
    const second = await update.script('two', { name: 'second' }).is('RequiresAttention', 'FailedNodesInTheWay')
    expect(second.condition('Blocked')?.message).toContain('w2 is the last node that takes pods until w1 is back')
    await first.isDeleted()
    await second.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 2, w1: 2, w2: 1 })
  })

  scenario('an update that may take all workers at once takes them in turn', { nodes: 3 }, async (story) => {
    const { cluster, update } = story
    const cordoned = new Set<string>()
    let most = 0
    cluster.sim.server.onCommit(({ kind, after }) => {
      if (kind !== 'Node' || !after) return
      const { metadata, spec } = after as Node
      if (spec.unschedulable) cordoned.add(metadata.name)
      else cordoned.delete(metadata.name)
      most = Math.max(most, [...cordoned].filter((name) => name.startsWith('w')).length)
    })
    await update.script('true', { strategy: { maxUnavailable: 3 } }).succeeds()
    expect(most).toBe(1)
  })
})

describe('two updates that stage', () => {
  const kubernetes: readonly NodeSpec[] = ['cp1', 'w1', 'w2', 'w3', 'w4'].map((name) => ({
    ...{ name, version: name === 'cp1' ? 'v1.35.3' : 'v1.34.8' },
    role: name === 'cp1' ? 'control-plane' : 'worker',
  }))
  const onWorkers = {
    nodeSelector: {
      matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
    },
  }
  const stagesFor = (cluster: StoryCluster, update: string) =>
    cluster.names.filter((name) => {
      const { order } = cluster.state(name)?.spec ?? {}
      return order?.update === update && order.desired === 'Stage'
    })

  scenario('one that is paused keeps no node from the next', { nodes: kubernetes }, async ({ cluster, update }) => {
    const first = await update.kubernetes('v1.35.3', { ...onWorkers, name: 'first' }).hasDone(1)
    await cluster.until('two have staged', () => stagesFor(cluster, 'first').length === 2)
    await first.isEdited({ desiredState: 'Paused' })
    await cluster.until('none is under work', () => cluster.ledger.grants.length === 0)
    expect(stagesFor(cluster, 'first')).not.toEqual([])
    await update.kubernetes('v1.35.3', { ...onWorkers, name: 'second' }).succeeds()
    await first.isEdited({ desiredState: 'Running' })
    await first.succeeds()
  })

  scenario('nor does one whose window has closed', { nodes: kubernetes }, async ({ cluster, update }) => {
    const windows = [{ start: '20:00', end: '21:00' }]
    const first = await update.kubernetes('v1.35.3', { ...onWorkers, name: 'first', windows }).is('InProgress')
    await cluster.until('two have staged', () => stagesFor(cluster, 'first').length === 2)
    await update.kubernetes('v1.35.3', { ...onWorkers, name: 'second' }).succeeds()
    await first.succeeds()
  })

  const web = new PretendWeb()
  scenario('one does not wait where the other waits at a gate', { nodes: kubernetes, web }, async (story) => {
    const { cluster, update } = story
    web.answers('check.example', broken)
    const gates = [{ type: 'Http' as const, url: 'http://check.example/ready' }]
    const first = await update
      .kubernetes('v1.35.3', { ...onWorkers, name: 'first', gates })
      .is('InProgress', 'GateWaiting')
    await cluster.until('two have staged', () => stagesFor(cluster, 'first').length === 2)
    const second = await update.kubernetes('v1.35.3', { ...onWorkers, name: 'second' }).hasDone(2)
    await second.is('InProgress', 'NodeHeldElsewhere')
    expect(second.condition('Blocked')?.message).toMatch(/w[1-4] stages for first/)
    web.answers('check.example', ok)
    await first.succeeds()
    await second.succeeds()
  })

  scenario('one goes on beside nodes that failed for the other, and says so', { nodes: kubernetes }, async (story) => {
    const { cluster, update } = story
    for (const name of ['w1', 'w2']) cluster.failing.add(name)
    const failing = update.script('one', { ...onWorkers, name: 'first', strategy: { maxFailures: 1 } })
    const first = await failing.fails()
    const held = cluster.ledger.grants.map(({ node }) => node)
    expect(held).toHaveLength(2)
    const second = await update.kubernetes('v1.35.3', { ...onWorkers, name: 'second' }).hasDone(2)
    await second.is('InProgress', 'NodeHeldElsewhere')
    expect(second.condition('Blocked')?.message).toMatch(/w[12] is held by first/)
    cluster.failing.clear()
    await first.isDeleted()
    await second.succeeds()
  })

  scenario('the next of the control plane says what failed before it', { nodes: 6 }, async ({ cluster, update }) => {
    const named = (name: string) => ({ nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } } })
    cluster.failing.add('cp1')
    const first = await update.script('one', { ...named('cp1'), name: 'first' }).fails()
    cluster.failing.clear()
    const second = await update.kubernetes('v1.36.3', { name: 'second' }).is('RequiresAttention', 'FailedNodesInTheWay')
    expect(second.condition('Blocked')?.message).toContain('cp1 of the control plane is away')
    await first.isDeleted()
    await second.succeeds()
  })
})

describe('an update that is edited', () => {
  scenario('after its end starts a new operation and keeps the history', { nodes: 3 }, async ({ cluster, update }) => {
    const done = await update.script('true').succeeds()
    const first = done.status.operationID
    await done.isEdited({ nodeTimeout: '10m' })
    await done.succeeds()
    expect(done.status.operationID).not.toBe(first)
    expect(done.status.history).toMatchObject([{ generation: 1, operationID: first, phase: 'Succeeded' }])
    expect(cluster.allRuns).toEqual({ cp1: 2, w1: 2, w2: 2 })
  })

  scenario('in its limits while it runs goes on as the same operation', { nodes: 5 }, async ({ cluster, update }) => {
    const running = await update.script('true').hasDone(1)
    const { operationID } = running.status
    await running.isEdited({ strategy: { maxUnavailable: 3 } })
    await cluster.until('three nodes are under work', () => cluster.taken.length === 3)
    await running.succeeds()
    expect(running.status.operationID).toBe(operationID)
    expect(running.status.history).toBeUndefined()
    expect(running.status.observedGeneration).toBe(2)
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1, w4: 1 })
  })

  scenario('in its work while it runs is refused', { nodes: 3 }, async ({ update }) => {
    const running = await update.script('true').starts()
    await running.is('InProgress')
    await expect(running.isEdited({ kubernetes: { version: 'v1.36.3' } })).rejects.toThrow(/kubernetes/)
    await running.succeeds()
  })
})

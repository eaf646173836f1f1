import { describe, expect, it } from 'vitest'
import type { StrategySpec } from '../../src/api/strategy.ts'
import { play, type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'
import type { StoryUpdate } from './story-update.ts'

const manual: StrategySpec = {
  waves: [{ size: 1, soak: '10m', promotion: 'Manual' }, { size: '50%' }, { size: '100%' }],
  maxUnavailable: 2,
}

/** The nodes on which the work ran, the control plane aside. */
const worked = ({ allRuns }: StoryCluster) => Object.keys(allRuns).filter((name) => name !== 'cp1' && allRuns[name])

async function approve(update: StoryUpdate): Promise<void> {
  const { operationID = '', wave } = update.status
  const approval = { operationID, wave: wave?.index ?? 0, by: 'ana', at: '2026-01-01T00:00:00Z' }
  await update.isEdited({ approvals: [...(update.object?.spec.approvals ?? []), approval] })
}

/** A canary that soaks and is approved, then half, then all. */
async function canary({ cluster, update }: Story, between: () => Promise<void> = async () => {}): Promise<void> {
  const running = update.script('true', { strategy: manual })
  await cluster.until('the canary is looked at', () => running.status.wave?.soakUntil !== undefined)
  expect(worked(cluster)).toEqual(['w1'])
  await between()
  await running.is('InProgress', 'WaveSoaking')
  await cluster.pass(300_000)
  expect(worked(cluster)).toEqual(['w1'])
  await running.is('InProgress', 'ApprovalWanted')
  expect(running.status.wave).toMatchObject({ index: 0, of: 3, size: 1, promotion: 'Wanted' })
  await between()
  await cluster.pass(600_000)
  expect(worked(cluster)).toEqual(['w1'])
  expect(running.condition('Blocked')?.message).toMatch(/then: slipway approve update$/)
  await approve(running)
  await between()
  await cluster.until('the second wave', () => running.status.wave?.index === 1)
  expect(running.status.wave).toMatchObject({ size: 2 })
  await running.succeeds()
  expect(running.status.wave).toMatchObject({ index: 2, size: 5 })
  expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1, w4: 1, w5: 1 })
}

describe('waves', () => {
  scenario('a canary, its soak, an approval, then the others', { nodes: oneAnd(5) }, canary)

  scenario('the operator dies in each of these states', { nodes: oneAnd(5), operators: 2 }, (story) =>
    canary(story, async () => {
      for (const process of story.cluster.sim.programs()) process.crash()
      await story.cluster.pass(1_000)
    }),
  )

  scenario('one that is cancelled asks for no approval any more', { nodes: oneAnd(3) }, async ({ update }) => {
    const strategy: StrategySpec = { waves: [{ size: 1, promotion: 'Manual' }, { size: '100%' }] }
    const running = update.script('true', { strategy })
    await running.is('InProgress', 'ApprovalWanted')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(running.status.wave).not.toHaveProperty('promotion')
  })

  scenario('each wave ends before the next begins', { nodes: oneAnd(8) }, async ({ cluster, update }) => {
    const startedIn = new Map<number, Set<string>>()
    const running = update.script('true', { strategy: { type: 'Batches', maxUnavailable: '100%' } })
    cluster.sim.server.onCommit(() => {
      const index = running.status.wave?.index ?? -1
      const nodes = startedIn.get(index) ?? new Set()
      startedIn.set(index, nodes)
      for (const name of cluster.taken) nodes.add(name)
    })
    await running.succeeds()
    const before = (index: number) =>
      [...startedIn.entries()].filter(([at]) => at <= index).flatMap(([, set]) => [...set])
    expect([0, 1, 2, 3].map((index) => new Set(before(index)).size - 1)).toEqual([2, 4, 6, 8])
    expect(cluster.told('DirectUpdate', 'update').filter((reason) => reason === 'WaveStarted')).toHaveLength(4)
  })

  scenario('a canary that fails is not promoted, though one failure is tolerated', { nodes: 5 }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w1')
    const waves = [{ size: 1 }, { size: '100%' }]
    const failed = await update.script('true', { strategy: { waves, maxFailures: 1 } }).fails()
    await cluster.pass(600_000)
    expect(worked(cluster)).toEqual(['w1'])
    expect(failed.status.wave).toMatchObject({ index: 0 })
  })

  scenario('a tolerated failure in a wave does not keep the others up', { nodes: 5 }, async ({ cluster, update }) => {
    cluster.failing.add('w2')
    const waves = [{ size: 2 }, { size: '100%' }]
    const failed = await update.script('true', { strategy: { waves, maxFailures: 1 } }).fails()
    expect(failed.status.summary).toMatchObject({ done: 4, failed: 1, waiting: 0 })
  })

  scenario('one that waits for a node in need of a person says so', { nodes: oneAnd(8) }, async (story) => {
    const { cluster, update, faults } = story
    faults.keepAway('w1')
    cluster.machine('w1').agent?.crash()
    const strategy: StrategySpec = { type: 'Batches', maxFailures: 1 }
    const running = update.kubernetes('v1.36.3', { nodeTimeout: '5m', strategy })
    await cluster.nodeIs('w1', 'RequiresAttention', 'OrderTimedOut')
    await running.is('RequiresAttention', 'FailedNodesInTheWay')
    expect(running.condition('Blocked')?.message).toMatch(/^wave 1 of 4 waits for w1, which needs a person/)
    expect(running.status.summary).toMatchObject({ done: 2, waiting: 6 })
    faults.letCome('w1')
    await running.succeeds()
  })

  scenario(
    'who leaves a wave is replaced by the next, and nobody else moves',
    { nodes: oneAnd(6) },
    async ({ cluster, update, person }) => {
      const waves = [{ size: 2, soak: '1h' }, { size: '100%' }]
      const running = update.script('true', { strategy: { waves } })
      await cluster.until('the first wave is looked at', () => running.status.wave?.soakUntil !== undefined)
      expect(worked(cluster)).toEqual(['w1', 'w2'])
      await person.deletesNode('w1')
      await cluster.pass(600_000)
      expect(worked(cluster)).toEqual(['w1', 'w2', 'w3'])
      await cluster.until('all are done', () => running.status.phase === 'Succeeded', 2 * 3_600_000)
    },
  )

  const zoned = oneAnd(6).map((node, index) => ({ ...node, zone: index < 4 ? 'a' : 'b' }))
  scenario('those named come first, then heavier ones, then zone by zone', { nodes: zoned }, async (story) => {
    const { cluster, update, person } = story
    await person.labels('w5', { 'slipway.dev/weight': '10' })
    const order: string[] = []
    cluster.sim.server.onCommit(() => {
      for (const name of cluster.taken) if (!order.includes(name)) order.push(name)
    })
    await update.script('true', { strategy: { first: ['w3'] } }).succeeds()
    expect(order).toEqual(['cp1', 'w3', 'w5', 'w1', 'w4', 'w2', 'w6'])
  })

  it('the operator dies at each write of a rollout with two waves', async () => {
    const tell = async ({ cluster, update }: Story) => {
      const waves = [{ size: 1, soak: '1m' }, { size: '100%' }]
      const running = update.script('true', { strategy: { waves } })
      await running.succeeds()
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
    }
    let writes = 0
    await play({ nodes: 3, operators: 1 }, async (story) => {
      await tell(story)
      writes = story.faults.count('operator', 'write')
    })
    expect(writes).toBeGreaterThan(15)
    for (let nth = 1; nth <= writes; nth++) {
      await play({ nodes: 3, operators: 1, crash: { victim: 'operator', after: 'write', nth } }, tell)
    }
  })
})

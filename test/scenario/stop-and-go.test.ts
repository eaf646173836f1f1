import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { nodes as kubeNodes, pods } from '../../src/api/kube.ts'
import { releasingPatch, workDoubt } from '../../src/core/steering/hold-node.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'

const nodes = oneAnd(3)
const none = { cp1: 0, w1: 0, w2: 0, w3: 0 }

async function killOperators({ cluster }: Story): Promise<void> {
  for (const process of cluster.sim.programs()) process.crash()
  await cluster.pass(1_000)
}

/** A pod on w1 that nothing makes again keeps its drain going. */
async function blockDrain({ person }: Story): Promise<void> {
  await person.createsPod('loner', 'w1')
}

function expectPutBack(cluster: StoryCluster, name: string): void {
  expect(cluster.isCordoned(name)).toBe(false)
  expect(cluster.ledger.grants).toEqual([])
  expect(cluster.state(name)?.spec.order).toBeUndefined()
  expect(cluster.state(name)?.status?.rollout).toBeUndefined()
}

describe('release', () => {
  scenario('of a node that is emptied is no use: cancel is, as it is told', { nodes }, async (story) => {
    const { cluster, update, person } = story
    await blockDrain(story)
    const running = update.script('true', { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    expect(workDoubt('w1', cluster.state('w1'))).toMatchObject({
      message: 'w1 is being drained for update update',
      nextStep: expect.stringContaining('slipway cancel update ends that'),
      forced: expect.stringContaining('an operator that runs takes it again at once'),
    })
    const node = cluster.node('w1')
    await person.changes(kubeNodes, 'w1', (node && releasingPatch(node, cluster.state('w1'))) ?? {})
    expect(cluster.isCordoned('w1')).toBe(false)
    await cluster.until('it is taken again', () => cluster.taken.includes('w1'), 5_000)
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expectPutBack(cluster, 'w1')
    expect(workDoubt('w1', cluster.state('w1'))).toBeUndefined()
  })
})

describe('pause and resume', () => {
  scenario('what is under work is finished, nothing new starts; resumed, it goes on', { nodes }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    await running.isEdited({ desiredState: 'Paused' })
    await running.is('Paused')
    await cluster.nodeIs('w1', 'Done')
    await cluster.pass(600_000)
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1 })
    expect(cluster.taken).toEqual([])
    expect(running.condition('Stalled')?.message).toBe('paused: 2/4 nodes done; go on with slipway resume update')
    await killOperators(story)
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([])
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('during a drain: that node is finished first', { nodes }, async (story) => {
    const { cluster, update, person } = story
    await blockDrain(story)
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Paused' })
    await running.is('Paused')
    expect(cluster.taken).toEqual(['w1'])
    await person.deletes(pods, { name: 'loner', namespace: 'shop' })
    await cluster.nodeIs('w1', 'Done')
    await cluster.pass(300_000)
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1 })
  })

  scenario('one made paused waits from the beginning', { nodes }, async ({ cluster, update }) => {
    const running = await update.kubernetes('v1.36.3', { desiredState: 'Paused' }).is('Paused')
    await cluster.pass(300_000)
    expect(cluster.taken).toEqual([])
    expect(cluster.names.map((name) => cluster.state(name)?.spec.order)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
  })
})

describe('cancel', () => {
  scenario('a node that drains is put back', { nodes }, async (story) => {
    const { cluster, update } = story
    await blockDrain(story)
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expectPutBack(cluster, 'w1')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1 })
    expect(running.condition('Stalled')).toMatchObject({ status: 'True', reason: 'Cancelled' })
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([])
    expect(cluster.told('DirectUpdate', 'update')).toContain('Cancelled')
  })

  scenario('a person’s own cordon stays when the node is put back', { nodes }, async (story) => {
    const { cluster, update, person } = story
    await blockDrain(story)
    await person.cordons('w1')
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(cluster.isCordoned('w1')).toBe(true)
    expect(cluster.ledger.grants).toEqual([])
  })

  /** Until w1 has its order and its agent cannot take it. */
  async function orderUnheard({ cluster, faults }: Story): Promise<void> {
    await cluster.until('w1 has its order', () => cluster.state('w1')?.spec.order?.desired === 'Run')
    faults.keepAway('w1')
    cluster.machine('w1').agent?.crash()
    await cluster.nodeIs('w1', 'Assigned')
  }

  scenario('a node with an order that waits for its agent finishes it', { nodes }, async (story) => {
    const { cluster, update, faults } = story
    const running = update.script('true')
    await orderUnheard(story)
    await running.isEdited({ desiredState: 'Cancelled' })
    await cluster.pass(60_000)
    expect(running.status.phase).toBe('InProgress')
    faults.letCome('w1')
    await running.is('Cancelled')
    expect(cluster.state('w1')?.status?.rollout?.phase).toBe('Done')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1 })
    expect(cluster.taken).toEqual([])
  })

  scenario('so does one that works', { nodes }, async ({ cluster, update }) => {
    const running = update.kubernetes('v1.36.3')
    await cluster.nodeIs('w1', 'Working')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(cluster.node('w1')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
    expect(running.status.summary).toMatchObject({ done: 2, waiting: 2 })
    expect(cluster.taken).toEqual([])
  })

  scenario('nodes that only staged drop what they were told', { nodes }, async ({ cluster, update }) => {
    const running = update.kubernetes('v1.36.3')
    await cluster.until('w1 stages', () => cluster.state('w1')?.spec.order?.desired === 'Stage')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    await cluster.pass(60_000)
    for (const name of ['w1', 'w2', 'w3']) {
      expect(cluster.state(name)?.spec.order).toBeUndefined()
      expect(cluster.state(name)?.status?.rollout).toBeUndefined()
    }
    expect(cluster.node('w1')?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
  })

  scenario('PutBack: an order whose step has begun and cannot be undone is finished', { nodes }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true', { onCancel: 'PutBack' })
    await cluster.nodeIs('w1', 'Working')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(cluster.state('w1')?.status?.rollout?.phase).toBe('Done')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1 })
  })

  scenario('PutBack: an order nobody has begun is withdrawn, the node put back', { nodes }, async (story) => {
    const { cluster, update, faults } = story
    const running = update.script('true', { onCancel: 'PutBack' })
    await orderUnheard(story)
    await running.isEdited({ desiredState: 'Cancelled' })
    await cluster.until('it is asked back', () => cluster.state('w1')?.spec.order?.desired === 'PutBack')
    expect(cluster.taken).toEqual(['w1'])
    faults.letCome('w1')
    await running.is('Cancelled')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1 })
    expectPutBack(cluster, 'w1')
  })

  scenario('a failed node stays as it is, for a person to look at', { nodes: oneAnd(4) }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w1')
    await story.person.createsPod('loner', 'w2')
    const running = update.script('true', { strategy: { maxFailures: 1 } })
    await cluster.nodeIs('w2', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(cluster.taken).toEqual(['w1'])
    expect(cluster.state('w1')?.status?.rollout?.phase).toBe('Failed')
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
    await running.isDeleted()
    await running.isGone()
    expect(cluster.taken).toEqual([])
  })

  scenario('before its plan was possible: nothing is touched', { nodes }, async ({ cluster, update }) => {
    const refused = await update
      .of({ script: { configMap: 'none', sha256: 'a'.repeat(64) } })
      .is('Pending', 'ScriptMissing')
    await refused.isEdited({ desiredState: 'Cancelled' })
    await refused.is('Cancelled')
    expect(cluster.taken).toEqual([])
  })

  scenario('the operator dies at once after it', { nodes, operators: 2 }, async (story) => {
    const { cluster, update } = story
    await blockDrain(story)
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Cancelled' })
    await killOperators(story)
    await running.is('Cancelled')
    expectPutBack(cluster, 'w1')
  })

  const afterwards: readonly [string, Partial<DirectUpdateSpec>, string][] = [
    [
      'a hook failed',
      { hooks: [{ name: 'tell', when: 'AfterUpdate', http: { url: 'http://gone.example/' } }] },
      'HookFailed',
    ],
    ['a gate failed', { gates: [{ type: 'Http', url: 'http://gone.example/', when: 'AfterWave' }] }, 'GateFailed'],
    ['the last wave soaks', { strategy: { waves: [{ size: '100%', soak: '24h' }] } }, 'WaveSoaking'],
  ]
  for (const [what, wishes, code] of afterwards) {
    const web = new PretendWeb()
    scenario(`when every node is done and ${what}: it is over`, { nodes: 2, web }, async ({ cluster, update }) => {
      const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'w1' } }
      const running = update.script('true', { ...wishes, nodeSelector })
      await running.hasDone(1)
      await cluster.until(code, () => running.condition('Blocked')?.reason === code)
      await running.isEdited({ desiredState: 'Cancelled' })
      await running.is('Cancelled')
      expect(running.condition('Progressing')?.message).toMatch(/^cancelled: 1\/1 nodes done/)
      expect(cluster.taken).toEqual([])
    })
  }

  scenario('another spec starts another run', { nodes }, async ({ cluster, update }) => {
    const running = update.script('true', { desiredState: 'Cancelled' })
    await running.is('Cancelled')
    await running.isEdited({ desiredState: 'Running' })
    await cluster.pass(60_000)
    expect(running.status).toMatchObject({
      phase: 'Cancelled',
      observedGeneration: running.object?.metadata.generation,
    })
    await running.isEdited({ nodeTimeout: '1h' })
    await running.succeeds()
  })
})

describe('retry', () => {
  scenario('after a failure: the node is tried again and the others follow', { nodes }, async (story) => {
    const { cluster, update } = story
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    const { operationID } = failed.status
    expect(failed.condition('Failed')?.message).toContain('1 failed (w1) and wait for a person')
    await killOperators(story)
    cluster.failing.clear()
    let wasFree = false
    cluster.sim.server.onCommit(() => {
      const phase = cluster.state('w1')?.status?.rollout?.phase
      if (!cluster.isCordoned('w1') && (phase === 'Failed' || phase === 'Draining')) wasFree = true
    })
    await failed.isEdited({ retry: { token: '1' } })
    await failed.succeeds()
    expect(failed.status).toMatchObject({ operationID, retried: '1' })
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 2, w2: 1, w3: 1 })
    expect(cluster.state('w1')?.spec.order?.id).toBe(`${operationID}/2`)
    expect(wasFree).toBe(false)
  })

  scenario('that fails again waits for another word', { nodes }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    await failed.isEdited({ retry: { token: 'a' } })
    await cluster.until('the second attempt failed', () => cluster.allRuns.w1 === 2 && failed.status.phase === 'Failed')
    await cluster.pass(600_000)
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 2 })
    cluster.failing.clear()
    await failed.isEdited({ retry: { token: 'b' } })
    await failed.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 3, w2: 1, w3: 1 })
  })

  scenario('of named nodes leaves the others as they are', { nodes }, async ({ cluster, update }) => {
    cluster.failing.add('w1').add('w2')
    const failed = await update.script('true', { strategy: { maxUnavailable: 2 } }).fails()
    expect(failed.status.summary).toMatchObject({ failed: 2, waiting: 1 })
    cluster.failing.clear()
    await failed.isEdited({ retry: { token: '1', nodes: ['w2'] } })
    await cluster.nodeIs('w2', 'Done')
    await failed.is('Failed', 'NodesFailed')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1, w2: 2 })
  })

  scenario(
    'of a node whose agent does not answer: its order is withdrawn, then tried anew',
    { nodes },
    async (story) => {
      const { cluster, update, faults } = story
      const running = update.script('true', { nodeTimeout: '2m' })
      await cluster.until('w1 has its order', () => cluster.state('w1')?.spec.order?.desired === 'Run')
      faults.keepAway('w1')
      cluster.machine('w1').agent?.crash()
      await running.is('RequiresAttention')
      await running.isEdited({ retry: { token: '1' } })
      await cluster.until('it is withdrawn', () => cluster.state('w1')?.spec.order?.desired === 'Withdraw')
      faults.letCome('w1')
      await running.succeeds()
      expect(cluster.taken).toEqual([])
    },
  )

  const unfetchable = new Set<string>()
  const driversOf = (node: string) =>
    rehearsalDrivers.map((driver) => ({
      ...driver,
      stage: async () =>
        unfetchable.has(node) ? ({ code: 'DownloadRefused', message: 'the server says 404' } as const) : undefined,
    }))
  scenario('of a node that could not fetch what it needs', { nodes, driversOf }, async ({ cluster, update }) => {
    unfetchable.add('w1')
    const failed = await update.kubernetes('v1.36.3').fails()
    await cluster.pass(60_000)
    expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed', reason: { code: 'DownloadRefused' } })
    expect(cluster.taken).toEqual([])
    unfetchable.clear()
    await failed.isEdited({ retry: { token: '1' } })
    await failed.succeeds()
    expect(cluster.state('w1')?.spec.order?.id).toBe(`${failed.status.operationID}/2`)
  })
})

describe('skip', () => {
  scenario('leaves nodes out that wait, and says which names it does not know', { nodes }, async (story) => {
    const { cluster, update } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    await running.isEdited({ skip: ['w1', 'w2', 'w99'] })
    await running.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 0, w3: 1 })
    const unknown = expect.objectContaining({ code: 'SkipUnknown', message: expect.stringContaining('w99') })
    expect(running.status.warnings).toContainEqual(unknown)
    expect(running.status.summary).toMatchObject({ done: 3, skipped: 1 })
  })

  scenario('of a failed node lets the others go on', { nodes }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    await failed.isEdited({ skip: ['w1'], retry: { token: '1' } })
    await cluster.until('the others are done', () => failed.status.summary?.done === 3)
    await failed.fails()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
    expect(cluster.taken).toEqual(['w1'])
  })
})

describe('time-outs', () => {
  scenario('the whole update: nothing new starts when its time is over', { nodes }, async (story) => {
    const { cluster, update } = story
    await blockDrain(story)
    const running = update.script('true', { operationTimeout: '5m' })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await cluster.pass(360_000)
    expect(running.status.phase).toBe('InProgress')
    const { fired } = cluster.sim.clock
    await cluster.pass(60_000)
    expect(cluster.sim.clock.fired - fired, 'timers of a minute in which nothing happens').toBeLessThan(2_000)
    await story.person.deletes(pods, { name: 'loner', namespace: 'shop' })
    await running.is('Failed', 'OperationTimedOut')
    expect(cluster.allRuns).toEqual({ ...none, cp1: 1, w1: 1 })
    await running.isEdited({ retry: { token: 'more' } })
    await running.succeeds()
  })

  const web = new PretendWeb()
  scenario('time in which a person is waited for is not counted', { nodes, web }, async ({ cluster, update }) => {
    web.answers('shop.example', broken)
    const held = update.script('true', {
      gates: [{ type: 'Http', url: 'http://shop.example/', timeout: '5m' }],
      operationTimeout: '30m',
    })
    await held.is('RequiresAttention', 'GateFailed')
    await cluster.pass(7_200_000)
    expect(held.status.phase).toBe('RequiresAttention')
    web.answers('shop.example', ok)
    await held.succeeds()
  })

  scenario('time in which it was paused is not counted', { nodes }, async ({ cluster, update }) => {
    const running = update.script('true', { operationTimeout: '5m' })
    await cluster.nodeIs('w1', 'Working')
    await running.isEdited({ desiredState: 'Paused' })
    await running.is('Paused')
    await cluster.pass(3_600_000)
    await running.isEdited({ desiredState: 'Running' })
    await running.succeeds()
    expect(running.status.timer?.usedSeconds).toBeLessThan(300)
  })
})

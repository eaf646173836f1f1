import { describe, expect } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { nodes, pods } from '../../src/api/kube.ts'
import { releasingPatch } from '../../src/core/steering/hold-node.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { shop } from './story-person.ts'
import type { StoryUpdate } from './story-update.ts'

const onlyW1 = { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } }
const gates: DirectUpdateSpec['gates'] = [
  { name: 'shop', type: 'Http', when: 'AfterNode', url: 'http://shop.example/', timeout: '1m' },
]

describe('a node that a gate held and that is tried again', () => {
  const web = new PretendWeb()

  /** Its second drain hangs. */
  async function isTriedAgain({ cluster, update, person }: Story): Promise<StoryUpdate> {
    web.answers('shop.example', broken)
    const running = update.script('true', { gates, ...onlyW1, drain: { timeout: '2m', onTimeout: 'Abort' } })
    await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    await person.createsPod('lonely', 'w1')
    await running.isRetried('1')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    return running
  }

  scenario('stays cordoned when its update is cancelled', { nodes: 3, web }, async (story) => {
    const { cluster } = story
    const running = await isTriedAgain(story)
    await running.isEdited({ desiredState: 'Cancelled' })
    await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    await cluster.pass(60_000)
    expect(cluster.isCordoned('w1')).toBe(true)
  })

  scenario('stays cordoned when its drain is given up', { nodes: 3, web }, async (story) => {
    const { cluster, person } = story
    const running = await isTriedAgain(story)
    const { reason } = await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    expect(reason?.message).toContain('tried again, but its drain was given up: shop/lonely')
    await cluster.pass(60_000)
    expect(cluster.isCordoned('w1')).toBe(true)
    await person.deletes(pods, { namespace: shop, name: 'lonely' })
    web.answers('shop.example', ok)
    await running.isRetried('2')
    await running.succeeds()
    expect(cluster.state('w1')?.status?.rollout?.failure).toBeUndefined()
  })

  scenario('is asked for when its work is done again, not before', { nodes: 3, web }, async (story) => {
    const { cluster, update, person } = story
    web.answers('shop.example', broken)
    const running = update.script('true', { gates, ...onlyW1, drain: { timeout: '30m' } })
    await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    await person.createsPod('lonely', 'w1')
    await running.isRetried('1')
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    // Longer than the gate has.
    await cluster.pass(120_000)
    await person.deletes(pods, { namespace: shop, name: 'lonely' })
    await cluster.nodeIs('w1', 'Verifying', 'GateWaiting')
    web.answers('shop.example', ok)
    await running.succeeds()
  })
})

describe('nodes that are asked for one by one', () => {
  const workers = {
    nodeSelector: {
      matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn' as const, values: ['cp1'] }],
    },
  }
  const both = { ...workers, strategy: { maxFailures: 3, maxUnavailable: 3 } }
  const web = new PretendWeb()

  /** None was touched: their slots are back. */
  async function fail({ cluster, update }: Story): Promise<StoryUpdate> {
    web.answers('hooks.example', { status: 409, body: 'not this one' })
    const hooks = [{ name: 'ask', when: 'BeforeNode' as const, http: { url: 'http://hooks.example/ask' } }]
    const failed = await update.script('true', { ...both, hooks }).fails()
    await cluster.until('the slots are back', () => cluster.ledger.grants.length === 0)
    expect(failed.status.summary).toMatchObject({ failed: 3 })
    return failed
  }

  function crashOperators({ cluster }: Story): void {
    for (const program of cluster.sim.programs()) program.crash()
  }

  scenario('are all tried, though the first still waited for its slot', { nodes: 4, web }, async (story) => {
    const { cluster, person } = story
    const failed = await fail(story)
    await person.setsPolicy({ paused: true })
    await failed.isRetriedFor('first', 'w1')
    await cluster.until('it waits', () => failed.status.summary?.waiting === 1)
    await failed.isRetriedFor('second', 'w2')
    await cluster.until('both wait', () => failed.status.summary?.waiting === 2)
    web.answers('hooks.example', ok)
    await person.setsPolicy({ paused: false })
    await failed.is('Failed')
    expect(failed.status.summary).toMatchObject({ done: 2, failed: 1 })
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 1, w2: 1, w3: 0 })
  })

  scenario('are all tried, though no operator heard the first word', { nodes: 4, web }, async (story) => {
    const { cluster } = story
    const failed = await fail(story)
    web.answers('hooks.example', ok)
    crashOperators(story)
    await failed.isRetriedFor('first', 'w1')
    await failed.isRetriedFor('second', 'w2')
    await cluster.until('both are done', () => cluster.runs('w1') + cluster.runs('w2') === 2)
    await failed.is('Failed')
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 1, w2: 1, w3: 0 })
  })

  scenario('are tried once for each word, also where they fail again', { nodes: 4, web }, async (story) => {
    const { cluster } = story
    const failed = await fail(story)
    const asked = () => web.asked('hooks.example').length
    const before = asked()
    await failed.isRetriedFor('first', 'w1')
    await cluster.until('it was tried', () => asked() === before + 1 && failed.status.retried === 'first')
    await cluster.until('it failed', () => cluster.state('w1')?.status?.rollout?.retried === 'first')
    await failed.isRetriedFor('second', 'w2')
    await cluster.until('the other, too', () => cluster.state('w2')?.status?.rollout?.retried === 'second')
    await cluster.pass(60_000)
    expect(asked()).toBe(before + 2)
    expect(failed.object?.spec.retry).toEqual({ token: 'second', nodes: ['w2'] })
  })

  scenario('are all tried, though the word before was for all', { nodes: 4, web }, async (story) => {
    const failed = await fail(story)
    web.answers('hooks.example', ok)
    crashOperators(story)
    await failed.isRetried('all')
    await failed.isRetriedFor('again', 'w1')
    await failed.succeeds()
  })
})

describe('a node that failed and is left out', () => {
  scenario('is none of its update any more once it is released', { nodes: 4 }, async ({ cluster, update, person }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true').fails()
    await failed.isEdited({ skip: ['w1'], retry: { token: '1' } })
    await failed.hasDone(3)
    await failed.fails()
    expect(cluster.taken).toEqual(['w1'])
    expect(failed.condition('Failed')?.message).toContain(
      'left out (w1): slipway release w1, then slipway retry update',
    )
    const node = cluster.node('w1')
    await person.changes(nodes, 'w1', (node && releasingPatch(node, cluster.state('w1'))) ?? {})
    await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0)
    await failed.isRetried('2')
    await failed.succeeds()
    expect(failed.status.summary).toMatchObject({ done: 3, skipped: 1, failed: 0 })
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })

  scenario('ends its update well at once where its drain was given up', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await person.createsPod('lonely', 'w1')
    const drain = { timeout: '1m', onTimeout: 'Abort' as const }
    const failed = await update.script('true', { drain }).fails()
    await failed.isEdited({ skip: ['w1'], retry: { token: '1' } })
    await failed.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 1, w3: 1 })
  })
})

// What becomes of a node that failed: nobody forgets it, and nothing is done to it that a person has not asked for.

import { describe, expect } from 'vitest'
import { holdAnnotation } from '../../src/api/hold.ts'
import { nodes, podDisruptionBudgets, pods } from '../../src/api/kube.ts'
import { retry } from '../../src/core/steering/decide-steering.ts'
import { releasingPatch } from '../../src/core/steering/hold-node.ts'
import { able, asRoot, files } from './maintenance-story.ts'
import { broken, ok, PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'

const only = (name: string) => ({ nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } } })
const workers = {
  nodeSelector: {
    matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
  },
}
const http = (path: string) => ({ http: { url: `http://hooks.example/${path}` } })

/** As slipway release does. */
async function release({ cluster, person }: Story, name: string): Promise<void> {
  const node = cluster.node(name)
  const patch = node && releasingPatch(node, cluster.state(name))
  if (!patch) throw new Error(`nothing of ours is on ${name}`)
  await person.changes(nodes, name, patch)
}

const shopGate = { name: 'shop', type: 'Http', when: 'AfterNode', url: 'http://shop.example/', timeout: '1m' } as const

describe('a gate after a node', () => {
  const sentinel = '/var/run/reboot-required'
  const web = new PretendWeb()

  scenario('that fails holds a reboot by sentinel, too', { ...able(4), web }, async (story) => {
    const { cluster, person } = story
    web.answers('shop.example', broken)
    await person.setsPolicy({
      budgets: [{ maxUnavailable: 1 }],
      reboots: { sentinels: [sentinel] },
      gates: [shopGate],
    })
    await cluster.until('watched', () => cluster.state('w3')?.status?.agent?.sentinels !== undefined)
    for (const name of ['w1', 'w2', 'w3']) await files(cluster, name).write(sentinel, '', asRoot)
    const isDone = (name: string) => cluster.state(name)?.status?.agent?.order?.state === 'Succeeded'
    await cluster.until('one is rebooted', () => ['w1', 'w2', 'w3'].some(isDone))
    const [first = ''] = cluster.taken
    await files(cluster, first).remove(sentinel)
    await cluster.nodeIs(first, 'Failed', 'GateFailed')
    await cluster.pass(600_000)
    expect(cluster.taken).toEqual([first])
    expect(cluster.isCordoned(first)).toBe(true)
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual([first])
    web.answers('shop.example', ok)
    await release(story, first)
    await cluster.until('all are rebooted', () => ['w1', 'w2', 'w3'].every(isDone))
    for (const name of ['w1', 'w2', 'w3']) await files(cluster, name).remove(sentinel)
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })

  scenario('is no reason to boot again where the sentinel is still there', { ...able(3), web }, async (story) => {
    const { cluster, person } = story
    web.answers('shop.example', broken)
    await person.setsPolicy({
      reboots: { sentinels: [sentinel] },
      gates: [shopGate],
    })
    await cluster.until('watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    let writes = 0
    cluster.sim.server.onCommit(({ kind }) => {
      if (kind === 'NodeState') writes++
    })
    await cluster.pass(600_000)
    expect(writes).toBeLessThan(20)
    expect(cluster.isCordoned('w1')).toBe(true)
    await release(story, 'w1')
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
    await cluster.pass(60_000)
    expect(cluster.taken).toEqual([])
    expect(cluster.state('w1')?.status?.rollout).toBeUndefined()
  })

  scenario('leaves no trace of maintenance when a person has put the node back', { ...able(3), web }, async (story) => {
    const { cluster, person } = story
    const [required, inProgress] = ['/var/maintenance-required', '/var/maintenance-in-progress']
    web.answers('shop.example', broken)
    await person.setsPolicy({
      maintenance: {},
      gates: [shopGate],
    })
    await cluster.until('watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    await files(cluster, 'w1').write(required, '', asRoot)
    await cluster.nodeIs('w1', 'Working')
    await cluster.pass(60_000)
    expect((await files(cluster, 'w1').look(inProgress)).kind).toBe('file')
    await files(cluster, 'w1').remove(required)
    await cluster.nodeIs('w1', 'Failed', 'GateFailed')
    const told = 'k8s.io/maintenance-in-progress'
    expect(cluster.node('w1')?.metadata.annotations).toHaveProperty([told])
    await release(story, 'w1')
    await cluster.until('all is as before', () => cluster.ledger.grants.length === 0)
    await cluster.pass(60_000)
    expect(cluster.node('w1')?.metadata.annotations).not.toHaveProperty([told])
    expect(cluster.state('w1')?.status?.rollout).toBeUndefined()
  })
})

describe('a node that failed', () => {
  const shop = new PretendWeb()

  scenario('stays cordoned when it is tried again and its drain is given up', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    cluster.failing.add('w1')
    const failed = await update.script('false', { ...only('w1'), drain: { timeout: '2m', onTimeout: 'Abort' } }).fails()
    await person.createsPod('node-debugger', 'w1')
    await failed.isRetried('again')
    await cluster.nodeIs('w1', 'Draining')
    const { reason } = await cluster.nodeIs('w1', 'Failed', 'StepFailed')
    expect(reason?.message).toMatch(/exit code 1.*tried again, but its drain was given up: .*node-debugger/)
    await cluster.pass(60_000)
    expect(cluster.isCordoned('w1')).toBe(true)
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
  })

  scenario('and that a person put back stages anew when it is tried again', { nodes: 3, web: shop }, async (story) => {
    const { cluster, update } = story
    shop.answers('shop.example', broken)
    const failed = await update.kubernetes('v1.36.3', { gates: [shopGate] }).fails()
    await cluster.nodeIs('cp1', 'Failed', 'GateFailed')
    await release(story, 'cp1')
    await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0)
    shop.answers('shop.example', ok)
    await failed.isRetried('1')
    const { status } = await failed.succeeds()
    expect(status?.summary).toMatchObject({ done: 3 })
    expect(cluster.state('cp1')?.status?.rollout).toMatchObject({ phase: 'Done', attempt: 2 })
  })

  scenario('is not tried again while a person holds it', { nodes: 4 }, async ({ cluster, update, person }) => {
    cluster.failing.add('w1')
    const failed = await update.script('true', only('w1')).fails()
    const held = JSON.stringify({ by: 'ann', why: 'disk out of the machine', at: '2026-01-05T08:00:00Z' })
    await person.annotates(nodes, 'w1', { [holdAnnotation]: held })
    const runs = cluster.runs('w1')
    cluster.failing.clear()
    await failed.isRetried('again')
    await cluster.pass(300_000)
    expect(cluster.runs('w1')).toBe(runs)
    await person.annotates(nodes, 'w1', { [holdAnnotation]: null })
    await failed.succeeds()
    expect(cluster.runs('w1')).toBe(runs + 1)
  })

  const web = new PretendWeb()
  scenario('at a hook after it is asked again when it is tried again', { nodes: 4, web }, async (story) => {
    const { update } = story
    web.answers('hooks.example', { status: 409, body: 'still broken' })
    const hooks = [{ name: 'smoke', when: 'AfterNode' as const, ...http('smoke') }]
    const failed = await update.script('true', { hooks, ...only('w1') }).fails()
    web.answers('hooks.example', ok)
    await failed.isRetried('again')
    await failed.succeeds()
  })

  scenario('at a hook before it gives its slot back: nothing was done to it', { nodes: 4, web }, async (story) => {
    const { cluster, update, person } = story
    web.answers('hooks.example', { status: 409, body: 'not this one' })
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const hooks = [{ name: 'ask', when: 'BeforeNode' as const, ...http('ask') }]
    const refused = await update.script('true', { hooks, ...only('w1') }).fails()
    await cluster.until('the slot is back', () => cluster.ledger.grants.length === 0)
    expect(cluster.isCordoned('w1')).toBe(false)
    await update.script('two', { name: 'other', ...only('w2') }).succeeds()
    web.answers('hooks.example', ok)
    await refused.isRetried('again')
    await refused.succeeds()
  })

  scenario('is named when its update is cancelled', { nodes: 4 }, async ({ cluster, update }) => {
    cluster.failing.add('w1')
    const running = update.script('true', { strategy: { maxFailures: 2 }, ...workers })
    await cluster.nodeIs('w1', 'Failed')
    await running.isEdited({ desiredState: 'Cancelled' })
    await running.is('Cancelled')
    expect(running.condition('Stalled')?.message).toMatch(/1 failed \(w1\): .*slipway release NODE/)
  })
})

describe('two updates that want the same node', () => {
  const abort = { timeout: '1m', onTimeout: 'Abort' as const }

  scenario('the failure of one outlives the work of the other', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    const first = update.script('one', { name: 'a', ...only('w1'), drain: abort })
    await first.fails()
    const drains: string[] = []
    cluster.sim.server.onCommit(({ kind }) => {
      const { rollout } = cluster.state('w1')?.status ?? {}
      const now = `${rollout?.update}:${rollout?.phase}`
      if (kind === 'NodeState' && rollout && drains.at(-1) !== now) drains.push(now)
    })
    await update.script('two', { name: 'b', ...only('w1'), drain: abort }).fails()
    await cluster.pass(1_200_000)
    expect(drains.filter((one) => one === 'a:Draining')).toEqual([])
    expect(first.status).toMatchObject({ phase: 'Failed', summary: { failed: 1, waiting: 0 } })
    await person.deletes(pods, { namespace: 'shop', name: 'lonely' })
    await first.isRetried('again')
    await first.succeeds()
  })
})

describe('an update that is being cancelled', () => {
  const web = new PretendWeb()

  scenario('takes no more pods from a node that is back', { nodes: 4, web }, async ({ cluster, update, person }) => {
    let cleaning = false
    web.answers('hooks.example', async ({ url }) => {
      if (!url.endsWith('/in')) return ok
      cleaning = true
      return { status: 503, body: 'later' }
    })
    const hooks = [{ name: 'out', when: 'BeforeNode' as const, ...http('out'), cleanup: http('in'), timeout: '5m' }]
    await person.createsPod('lonely', 'w1')
    const running = update.script('true', { hooks, ...only('w1') })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await running.isEdited({ desiredState: 'Cancelled' })
    await cluster.until('its hook cleans up', () => cleaning)
    expect(cluster.isCordoned('w1')).toBe(false)
    const leaving = () =>
      cluster.sim.podsOn('w1').filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length
    let evicted = 0
    cluster.sim.server.onCommit(({ kind }) => {
      if (kind === 'Pod') evicted += leaving()
    })
    for (const name of ['one', 'two', 'three']) {
      await person.deploys({ name, replicas: 6 })
      await cluster.pass(20_000)
    }
    expect(cluster.sim.podsOn('w1').length).toBeGreaterThan(1)
    expect(evicted).toBe(0)
  })

  scenario('is not tried again, and says so', { nodes: 4 }, async ({ cluster, update, faults }) => {
    const running = update.script('true', { nodeTimeout: '2m', ...workers })
    await cluster.until('w1 has its order', () => cluster.state('w1')?.spec.order?.desired === 'Run')
    faults.keepAway('w1')
    cluster.machine('w1').agent?.crash()
    await running.is('RequiresAttention')
    await running.isEdited({ desiredState: 'Cancelled' })
    await cluster.pass(60_000)
    const { object } = running
    if (!object) throw new Error('the update is gone')
    expect(running.condition('Stalled')?.message).not.toContain('slipway retry')
    expect(() => retry([], 'abcdefgh')(object)).toThrow('is being cancelled')
  })
})

describe('API servers that nobody has reported', () => {
  const controlPlane = (name: string, version: string) => ({ name, role: 'control-plane' as const, version })
  const members = [controlPlane('cp1', 'v1.36.3'), controlPlane('cp2', 'v1.35.4'), controlPlane('cp3', 'v1.36.3')]
  const worker = { name: 'w1', role: 'worker' as const, version: 'v1.35.4' }

  scenario('are as old as their kubelets', { nodes: [...members, worker], withoutAgent: ['cp2'] }, async (story) => {
    const { cluster, update } = story
    const refused = update.kubernetes('v1.36.3', workers)
    await cluster.pass(300_000)
    expect(refused.condition('Planned')).toMatchObject({ status: 'False' })
    expect(cluster.node('w1')?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
  })
})

describe('a drain that is held until the next window', () => {
  scenario('keeps nobody else from a PodDisruptionBudget', { nodes: oneAnd(4) }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ windows: [{ start: '08:00', end: '08:05' }], whenWindowCloses: 'Hold' })
    await person.deploys({ name: 'web', replicas: 8 })
    await cluster.pass(10_000)
    await person.createsBudget('web', { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 0 })
    update.script('one', { name: 'a', ...only('w1') })
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    await cluster.pass(360_000)
    const urgent = update.script('two', { name: 'b', ...only('w2') })
    await urgent.is('InProgress', 'OutsideWindow')
    const { operationID = '' } = urgent.status
    await urgent.isEdited({ runNow: { operationID, reason: 'urgent', by: 'ann', at: '2026-01-05T08:00:00Z' } })
    await cluster.nodeIs('w2', 'Draining', 'PodDisruptionBudget')
    await person.changes(podDisruptionBudgets, 'web', { spec: { maxUnavailable: 1 } })
    await urgent.succeeds()
  })

  scenario('says when that is, also after an edit of the policy', { nodes: 4 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ windows: [{ start: '08:00', end: '08:05' }], whenWindowCloses: 'Hold' })
    await person.createsPod('lonely', 'w1')
    update.script('true', only('w1'))
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    const { reason } = await cluster.nodeIs('w1', 'Draining', 'OutsideWindow')
    expect(reason?.message).toContain('2026-01-06T08:00:00Z')
    await person.setsPolicy({ windows: [{ start: '09:00', end: '10:00' }] })
    await cluster.pass(60_000)
    expect(cluster.state('w1')?.status?.rollout?.reason?.message).toContain('2026-01-05T09:00:00Z')
  })
})

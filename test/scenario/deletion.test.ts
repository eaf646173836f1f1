import { describe, expect } from 'vitest'
import { configMaps } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { type NodePhase, nodeStates } from '../../src/api/node-state.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { able, ask, finish, isLetIn } from './maintenance-story.ts'
import { ok, PretendWeb } from './pretend-web.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

function contents(cluster: StoryCluster): readonly string[] {
  return cluster.sim.server
    .peekAll(configMaps, { namespace: operatorNamespace })
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('slipway-content-'))
}

describe('a DirectUpdate deleted half-way', () => {
  for (const phase of ['Draining', 'Working'] as const) {
    scenario(`while its node is ${phase}: nothing of it is left`, { nodes: 4 }, async (story) => {
      const { cluster, update, person } = story
      await person.deploys({ name: 'web', replicas: 6 })
      await cluster.pass(10_000)
      const running = await update.script('true').hasDone(1)
      await cluster.nodeIs('w1', phase)
      expect(contents(cluster)).toHaveLength(1)
      await running.isDeleted()
      expect(running.object?.metadata.deletionTimestamp).toBeDefined()
      await running.isGone()
      expect(cluster.names.filter((name) => cluster.isCordoned(name))).toEqual([])
      expect(cluster.ledger.grants).toEqual([])
      expect(cluster.runs('w2') + cluster.runs('w3')).toBe(0)
      await cluster.until('the content is collected', () => contents(cluster).length === 0)
      expect(cluster.state('w1')?.status?.rollout).toBeUndefined()
      await cluster.pass(600_000)
      expect(cluster.runs('w1')).toBe(phase === 'Working' ? 1 : 0)
      await update.script('true', { name: 'next' }).succeeds()
      expect(cluster.runs('w1')).toBe(phase === 'Working' ? 2 : 1)
    })
  }

  scenario('before any node was taken: it goes at once', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ paused: true })
    const waiting = await update.script('true').is('InProgress', 'PolicyPaused')
    await waiting.isDeleted()
    await waiting.isGone()
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0 })
  })
})

describe('a NodeState', () => {
  scenario('that lost its owner is tied to its node again; deleted, it is made again', { nodes: 3 }, async (story) => {
    const { cluster, person } = story
    const owner = () => cluster.state('w1')?.metadata.ownerReferences?.[0]?.uid
    await person.changes(nodeStates, 'w1', { metadata: { ownerReferences: null } })
    expect(owner()).toBeUndefined()
    await cluster.until('w1 is tied again', () => owner() === cluster.node('w1')?.metadata.uid, 30_000)
    await person.deletes(nodeStates, { name: 'w1' })
    await cluster.until('w1 is there again', () => owner() === cluster.node('w1')?.metadata.uid, 30_000)
    await cluster.until('and its agent has reported', () => cluster.state('w1')?.status?.agent !== undefined, 30_000)
  })
})

const web = new PretendWeb()
const told = (path: string) => ({ http: { url: `http://hooks.example/${path}` } })

describe('a NodeState that somebody deletes in the middle of an update', () => {
  scenario('of a node that is done: its agent says so, and nothing is done twice', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const started = await update.script('true', { kubernetes: { version: 'v1.36.3' } }).starts()
    await cluster.nodeIs('w1', 'Done')
    await cluster.nodeIs('w2', 'Working')
    await person.deletes(nodeStates, { name: 'w1' })
    await started.succeeds()
    expect(cluster.machine('w1').host.executions.filter(({ step }) => step === 'script')).toHaveLength(1)
  })

  scenario(
    'of a node whose hooks owe a clean-up: it is put back first, and begins anew',
    { nodes: 3, web },
    async (story) => {
      const { cluster, update, person } = story
      web.answers('hooks.example', ok)
      const hooks = [{ name: 'noout', when: 'BeforeNode' as const, ...told('set'), cleanup: told('unset') }]
      const started = await update.script('true', { hooks, kubernetes: { version: 'v1.36.3' } }).starts()
      await cluster.nodeIs('w1', 'Working')
      await person.deletes(nodeStates, { name: 'w1' })
      await started.succeeds()
      await cluster.until('its slots are back', () => cluster.ledger.grants.length === 0)
      const asked = web.asked('hooks.example').map(({ url }) => url.split('/').at(-1))
      expect(asked.filter((path) => path === 'unset')).toHaveLength(asked.filter((path) => path === 'set').length)
    },
  )

  scenario('of a host under maintenance: it stays cordoned until its script is through', able(3), async (story) => {
    const { cluster, person } = story
    await person.setsPolicy({ maintenance: {} })
    await cluster.until('the host is watched', () => cluster.state('w1')?.status?.agent?.sentinels !== undefined)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    await person.deletes(nodeStates, { name: 'w1' })
    for (let look = 0; look < 30; look++) {
      await cluster.pass(4_000)
      expect(cluster.taken).toEqual(['w1'])
      expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
    }
    await finish(cluster, 'w1')
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('a Node deleted half-way', () => {
  const moments: readonly { readonly when: NodePhase | 'waiting'; readonly node: string }[] = [
    { when: 'Draining', node: 'w1' },
    { when: 'Working', node: 'w1' },
    { when: 'waiting', node: 'w3' },
  ]
  for (const { when, node } of moments) {
    scenario(`${when}: the update ends without it`, { nodes: 4 }, async ({ cluster, update, person }) => {
      await person.deploys({ name: 'web', replicas: 6 })
      await cluster.pass(10_000)
      const running = await update.script('true').hasDone(1)
      await cluster.nodeIs('w1', when === 'waiting' ? 'Working' : when)
      cluster.machine(node).losePower()
      await person.deletesNode(node)
      await running.succeeds()
      expect(running.status.summary).toMatchObject({ total: 3, done: 3 })
      expect(cluster.state(node)).toBeUndefined()
      expect(cluster.ledger.grants).toEqual([])
    })
  }

  for (const when of ['Draining', 'Working'] as const) {
    scenario(
      `${when}, and made again under the same name: the old order never runs there`,
      { nodes: 4 },
      async (story) => {
        const { cluster, update, person } = story
        await person.deploys({ name: 'web', replicas: 6 })
        await cluster.pass(10_000)
        const running = await update.script('true').hasDone(1)
        await cluster.nodeIs('w1', when)
        const { uid } = cluster.node('w1')?.metadata ?? {}
        cluster.machine('w1').losePower()
        await person.deletesNode('w1')
        await cluster.pass(2_000)
        const before = cluster.runs('w1')
        cluster.machine('w1').powerOn()
        await cluster.until('w1 is back', () => cluster.node('w1') !== undefined)
        await running.succeeds()
        await cluster.pass(600_000)
        const state = cluster.state('w1')
        expect(cluster.node('w1')?.metadata.uid).not.toBe(uid)
        expect(state?.metadata.ownerReferences?.[0]?.uid).toBe(cluster.node('w1')?.metadata.uid)
        expect(state?.status?.rollout).toBeUndefined()
        expect(state?.spec.order).toBeUndefined()
        expect(cluster.runs('w1')).toBe(before)
        expect(cluster.isCordoned('w1')).toBe(false)
        expect(cluster.ledger.grants).toEqual([])
        await update.script('true', { name: 'next' }).succeeds()
        expect(cluster.runs('w1')).toBe(before + 1)
      },
    )
  }

  scenario(
    'and made again while the ledger cannot be written: the old slot is none of its own',
    { nodes: 4 },
    async (story) => {
      const { cluster, update, person, faults } = story
      await person.createsPod('lonely', 'w1')
      await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
      await cluster.pass(10_000)
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
      faults.refuse('patch', new KubeError('ServerError', 'etcd is slow', { status: 500 }), maintenancePolicies)
      await person.deletesNode('w1')
      cluster.machine('w1').restartKubelet()
      await cluster.until('w1 is back', () => cluster.node('w1') !== undefined)
      await cluster.pass(20_000)
      expect(cluster.taken).toEqual([])
      faults.allow('patch')
      await running.succeeds()
      expect(cluster.runs('w1')).toBe(0)
    },
  )

  scenario(
    'and made again at once, its machine still at work: it ends its step and starts no other',
    { nodes: 4 },
    async (story) => {
      const { cluster, update, person } = story
      const running = update.script('true', { kubernetes: { version: 'v1.36.3' } })
      await cluster.nodeIs('w1', 'Working')
      const { uid } = cluster.node('w1')?.metadata ?? {}
      await person.deletesNode('w1')
      cluster.machine('w1').restartKubelet()
      await cluster.until('w1 is back', () => cluster.node('w1') !== undefined)
      await running.succeeds()
      await cluster.pass(120_000)
      expect(cluster.node('w1')?.metadata.uid).not.toBe(uid)
      expect(cluster.state('w1')?.metadata.ownerReferences?.[0]?.uid).toBe(cluster.node('w1')?.metadata.uid)
      const begun = cluster.machine('w1').host.executions.map(({ step, outcome }) => `${step} ${outcome}`)
      expect(begun).toEqual(['script exited'])
      expect(cluster.isCordoned('w1')).toBe(false)
      expect(running.status.summary).toMatchObject({ total: 3, done: 3 })
    },
  )
})

import { describe, expect } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { leases, nodes } from '../../src/api/kube.ts'
import { type NodePhase, nodeStates } from '../../src/api/node-state.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { type Story, scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const marks = ['slipway.dev/cordon', 'slipway.dev/marks', 'karpenter.sh/do-not-disrupt']

/** Everything of ours that is on nodes or in the ledger. */
const leftOn = (cluster: StoryCluster): readonly string[] => [
  ...cluster.names.flatMap((name) => {
    const { metadata, spec } = cluster.node(name) ?? {}
    const found = marks.filter((key) => metadata?.annotations?.[key] !== undefined)
    return [...found, ...(spec?.unschedulable ? ['cordon'] : [])].map((what) => `${name} ${what}`)
  }),
  ...cluster.ledger.grants.map(({ node }) => `${node} slot`),
]

/** As an operator that leads is promised to: put right, or told. */
const boundMs = 60_000

const holder = ({ sim }: StoryCluster) =>
  sim.server.peekAll(leases, { namespace: operatorNamespace })[0]?.spec.holderIdentity

/** Answers who led. */
function crashLeader(cluster: StoryCluster): string {
  const led = holder(cluster)
  const leader = cluster.sim.programs().find(({ name }) => led?.startsWith(`${name.slice('operator/'.length)}_`))
  if (!led || !leader) throw new Error('nobody leads')
  leader.crash()
  return led
}

async function nothingIsLeft(cluster: StoryCluster): Promise<void> {
  await cluster.until('nothing is left', () => leftOn(cluster).length === 0, boundMs)
}

/** Only one that leads can keep the bound. */
async function anotherLeads(cluster: StoryCluster, led: string): Promise<void> {
  await cluster.until('another one leads', () => Boolean(holder(cluster)) && holder(cluster) !== led)
}

/** As a person who is in a hurry does it: without waiting for anybody's finalizer. */
async function tearsUpdateOut({ person }: Story): Promise<void> {
  await person.changes(directUpdates, 'update', { metadata: { finalizers: null } })
  await person.deletes(directUpdates, { name: 'update' })
}

async function under(phase: NodePhase, { cluster, update, person }: Story): Promise<void> {
  await person.deploys({ name: 'web', replicas: 6 })
  await cluster.pass(10_000)
  await update.script('true').hasDone(1)
  await cluster.nodeIs('w1', phase)
}

describe('nothing of ours is left a minute after the work has ended', () => {
  for (const phase of ['Draining', 'Working'] as const) {
    const at = `, w1 ${phase}`
    scenario(`the update is torn out${at}`, { nodes: 4 }, async (story) => {
      await under(phase, story)
      await tearsUpdateOut(story)
      await nothingIsLeft(story.cluster)
    })

    scenario(`the operator dies and the update is torn out${at}`, { nodes: 4 }, async (story) => {
      await under(phase, story)
      const led = crashLeader(story.cluster)
      await tearsUpdateOut(story)
      await anotherLeads(story.cluster, led)
      await nothingIsLeft(story.cluster)
    })

    scenario(`the policy and the update are torn out, and the operator dies${at}`, { nodes: 4 }, async (story) => {
      await under(phase, story)
      const led = crashLeader(story.cluster)
      await story.person.deletesPolicy()
      await tearsUpdateOut(story)
      await anotherLeads(story.cluster, led)
      await nothingIsLeft(story.cluster)
    })

    scenario(`the NodeState is deleted${at}: the update goes on`, { nodes: 4 }, async (story) => {
      const { cluster, person } = story
      await under(phase, story)
      await person.deletes(nodeStates, { name: 'w1' })
      await cluster.until('it succeeds', () => {
        return cluster.sim.server.peek(directUpdates, { name: 'update' })?.status?.phase === 'Succeeded'
      })
      expect(leftOn(cluster)).toEqual([])
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
    })
  }

  scenario('marks that somebody copied onto a node are taken off', { nodes: 3 }, async ({ cluster, person }) => {
    await person.annotates(nodes, 'w1', { 'slipway.dev/cordon': 'gone/1', 'slipway.dev/marks': '' })
    await nothingIsLeft(cluster)
  })
})

describe('an order that runs though ledger and rollout are lost', () => {
  scenario('is booked before anything else: its node is not put back under it', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await under('Working', story)
    crashLeader(cluster)
    await person.deletesPolicy()
    const restore = cluster.sim.client('restore')
    const body = { status: { rollout: null } }
    await restore.patch(nodeStates, { name: 'w1' }, { type: 'merge', body }, AbortSignal.timeout(60_000), 'status')
    const running = () => cluster.machine('w1').host.executions.some(({ outcome }) => outcome === 'running')
    cluster.sim.server.onCommit(({ kind, after }) => {
      if (kind === nodes.kind && after?.metadata.name === 'w1' && running()) {
        expect(cluster.isCordoned('w1'), 'cordoned while the order runs').toBe(true)
      }
    })
    await cluster.until('w1 is booked', () => cluster.ledger.grants.some(({ node }) => node === 'w1'))
    await cluster.until('it succeeds', () => {
      return cluster.sim.server.peek(directUpdates, { name: 'update' })?.status?.phase === 'Succeeded'
    })
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
  })
})

describe('what cannot be put right is told', () => {
  scenario('an operation is gone and the agent of its node is silent', { nodes: 4 }, async (story) => {
    const { cluster } = story
    await under('Working', story)
    cluster.machine('w1').losePower()
    await tearsUpdateOut(story)
    await cluster.until('it is told', () => cluster.told('Node', 'w1').includes('LeftBehind'), boundMs)
    expect(cluster.ledger.grants.map(({ node }) => node)).toEqual(['w1'])
    cluster.machine('w1').powerOn()
    await cluster.until('nothing is left', () => leftOn(cluster).length === 0, 300_000)
  })

  scenario('our mark was taken off a cordon: it stays, as a person’s would', { nodes: 4 }, async (story) => {
    const { cluster, person } = story
    await under('Working', story)
    await person.changes(nodes, 'w1', { metadata: { annotations: { 'slipway.dev/cordon': null } } })
    await cluster.until('it succeeds', () => {
      return cluster.sim.server.peek(directUpdates, { name: 'update' })?.status?.phase === 'Succeeded'
    })
    expect(leftOn(cluster)).toEqual(['w1 cordon'])
    expect(cluster.told('Node', 'w1')).toContain('CordonMarkLost')
  })
})

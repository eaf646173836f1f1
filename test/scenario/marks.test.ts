import { describe, expect } from 'vitest'
import { holdAnnotation } from '../../src/api/hold.ts'
import { type Node, nodes } from '../../src/api/kube.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const autoscaler = 'cluster-autoscaler.kubernetes.io/scale-down-disabled'
const karpenter = 'karpenter.sh/do-not-disrupt'
const balancers = 'node.kubernetes.io/exclude-from-external-load-balancers'

const marksOf = (node: Node | undefined) => ({
  autoscaler: node?.metadata.annotations?.[autoscaler],
  karpenter: node?.metadata.annotations?.[karpenter],
  balancers: node?.metadata.labels?.[balancers],
})
const bare = { autoscaler: undefined, karpenter: undefined, balancers: undefined }

/** The marks in the very write that cordoned each node. */
function marksAtCordon(cluster: StoryCluster): Readonly<Record<string, ReturnType<typeof marksOf>>> {
  const found: Record<string, ReturnType<typeof marksOf>> = {}
  cluster.sim.server.onCommit(({ kind, before, after }) => {
    if (kind !== nodes.kind || !after || (before as Node | undefined)?.spec.unschedulable) return
    if ((after as Node).spec.unschedulable) found[after.metadata.name] = marksOf(after as Node)
  })
  return found
}

describe('while a node is under work', () => {
  scenario('autoscalers are told to leave it, in the write that cordons it', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    await person.annotates(nodes, 'w2', { [autoscaler]: 'true', [karpenter]: 'false' })
    const found = marksAtCordon(cluster)
    await update.script('true').succeeds()
    expect(found).toEqual({
      cp1: { ...bare, autoscaler: 'true', karpenter: 'true' },
      w1: { ...bare, autoscaler: 'true', karpenter: 'true' },
      w2: { ...bare, autoscaler: 'true', karpenter: 'false' },
    })
    expect(marksOf(cluster.node('w1'))).toEqual(bare)
    expect(marksOf(cluster.node('w2'))).toEqual({ ...bare, autoscaler: 'true', karpenter: 'false' })
  })

  scenario('it leaves load balancers where the policy says so', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.setsPolicy({ leaveLoadBalancers: true })
    await person.labels('w2', { [balancers]: 'mine' })
    const found = marksAtCordon(cluster)
    await update.script('true').succeeds()
    expect(found).toMatchObject({ w1: { balancers: '' }, w2: { balancers: 'mine' } })
    expect(cluster.names.map((name) => marksOf(cluster.node(name)).balancers)).toEqual([undefined, undefined, 'mine'])
  })

  scenario('also under a person’s cordon, which stays', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.cordons('w1')
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    expect(marksOf(cluster.node('w1'))).toEqual({ ...bare, autoscaler: 'true', karpenter: 'true' })
    await running.succeeds()
    expect(marksOf(cluster.node('w1'))).toEqual(bare)
    expect(cluster.isCordoned('w1')).toBe(true)
  })

  for (const phase of ['Draining', 'Working'] as const) {
    scenario(`${phase}, and its update is deleted: no mark is left`, { nodes: 3 }, async (story) => {
      const { cluster, update, person } = story
      await person.deploys({ name: 'web', replicas: 4 })
      await cluster.pass(10_000)
      const running = await update.script('true').hasDone(1)
      await cluster.nodeIs('w1', phase)
      await running.isDeleted()
      await running.isGone()
      expect(marksOf(cluster.node('w1'))).toEqual(bare)
    })
  }
})

describe('a node on hold', () => {
  const hold = { [holdAnnotation]: JSON.stringify({ by: 'ana', why: 'disk' }) }

  scenario('during our work stays cordoned after it, until it is released', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    await person.annotates(nodes, 'w1', hold)
    await running.succeeds()
    await cluster.pass(600_000)
    expect(cluster.isCordoned('w1')).toBe(true)
    expect(marksOf(cluster.node('w1'))).toEqual(bare)
    expect(cluster.ledger.grants).toEqual([])
    await person.changes(nodes, 'w1', { metadata: { annotations: { [holdAnnotation]: null } } })
    await cluster.until('w1 is back', () => !cluster.isCordoned('w1'), 60_000)
  })

  scenario('is not taken; the others are, and the update says whom it waits for', { nodes: 4 }, async (story) => {
    const { cluster, update, person } = story
    await person.annotates(nodes, 'w1', hold)
    const running = await update.script('true').hasDone(3)
    await running.is('InProgress', 'NodeOnHold')
    expect(running.condition('Blocked')?.message).toBe('w1 is on hold (ana: disk); slipway release w1')
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 0, w2: 1, w3: 1 })
    expect(cluster.isCordoned('w1')).toBe(false)
    await person.changes(nodes, 'w1', { metadata: { annotations: { [holdAnnotation]: null } } })
    await running.succeeds()
  })
})

describe('a node that failed', () => {
  scenario('and is released by a person gives its slot back, and stays failed', { nodes: 3 }, async (story) => {
    const { cluster, update, person } = story
    cluster.failing.add('w1')
    const running = await update.script('true').fails()
    expect(cluster.taken).toEqual(['w1'])
    await person.changes(nodes, 'w1', {
      metadata: {
        annotations: {
          'slipway.dev/cordon': null,
          'slipway.dev/marks': null,
          [autoscaler]: null,
          [karpenter]: null,
        },
      },
      spec: { unschedulable: null },
    })
    await cluster.until('its slot is back', () => cluster.ledger.grants.length === 0, 60_000)
    await cluster.pass(600_000)
    expect(running.status.phase).toBe('Failed')
    expect(cluster.state('w1')?.status?.rollout?.phase).toBe('Failed')
    expect(cluster.runs('w1')).toBe(1)
    expect(cluster.isCordoned('w1')).toBe(false)
  })
})

// Who tolerates a cordon may be put back by the scheduler on the node that was just emptied: it was asked to go once, and then it
// stays like a DaemonSet pod.

import { describe, expect } from 'vitest'
import type { Pod } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { shop } from './story-person.ts'

const anything = [{ operator: 'Exists' }] as const
const podCapacity = 4

const uidsOn = (cluster: StoryCluster, node: string, namespace: string): readonly string[] =>
  cluster.sim.podsOn(node).flatMap(({ metadata }: Pod) => (metadata.namespace === namespace ? [metadata.uid] : []))

describe('a pod that tolerates the cordon', () => {
  scenario('is asked to go once, and then holds nothing up', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.labels('w1', { pool: 'a' })
    await person.deploys({ name: 'typha', replicas: 1, pod: { tolerations: anything, nodeSelector: { pool: 'a' } } })
    await cluster.pass(10_000)
    const [before] = uidsOn(cluster, 'w1', shop)
    await update.script('true').succeeds()
    const after = uidsOn(cluster, 'w1', shop)
    expect(after).toHaveLength(1)
    expect(after).not.toContain(before)
  })
})

describe('an operator that tolerates the cordon', () => {
  const options = { nodes: 3, operators: 1, operatorTolerations: anything, podCapacity }
  scenario('comes back where there is no other room, and finishes', options, async ({ cluster, update, person }) => {
    const home = cluster.names.find((name) => uidsOn(cluster, name, operatorNamespace).length > 0) ?? ''
    const others = cluster.names.filter((name) => name !== home)
    for (const name of others) {
      await person.labels(name, { pool: name })
      const pod = { tolerations: anything, nodeSelector: { pool: name } }
      await person.deploys({ name: `full-${name}`, replicas: podCapacity, pod })
    }
    await cluster.pass(20_000)
    const [before] = uidsOn(cluster, home, operatorNamespace)
    const only = { matchLabels: { 'kubernetes.io/hostname': home } }
    const preflight = { skip: ['Capacity' as const] }
    await update.script('true', { nodeSelector: only, preflight, drain: { timeout: '40s' } }).succeeds()
    const after = uidsOn(cluster, home, operatorNamespace)
    expect(after).toHaveLength(1)
    expect(after).not.toContain(before)
  })
})

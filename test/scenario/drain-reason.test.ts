// A node that is being emptied says why it is not empty yet, from the first moment on and whatever happens.

import { describe, expect } from 'vitest'
import { pods } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { volumeAttachments } from '../../src/api/kube-storage.ts'
import { type NodeState, nodeStates } from '../../src/api/node-state.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

/** What nodes said while they were draining; undefined for one that said nothing. */
function saidBy(cluster: StoryCluster): readonly (string | undefined)[] {
  const said: (string | undefined)[] = []
  cluster.sim.server.onCommit(({ kind, after }) => {
    if (kind !== nodeStates.kind || !after) return
    const { phase, reason } = (after as NodeState).status?.rollout ?? {}
    if (phase === 'Draining') said.push(reason?.message)
  })
  return said
}

describe('a node that drains', () => {
  scenario('always says why', { nodes: 4, operators: 2 }, async ({ cluster, update, person }) => {
    await person.deploys({ name: 'web', replicas: 6, maxUnavailable: 1 })
    await cluster.pass(15_000)
    const said = saidBy(cluster)
    await update.kubernetes('v1.36.3').succeeds()
    expect(said.length).toBeGreaterThan(3)
    expect(said).not.toContain(undefined)
  })

  scenario('names the pod that takes its time', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('slow', 'w1')
    await person.changes(pods, 'slow', { metadata: { finalizers: ['example.com/keep'] } })
    await cluster.pass(15_000)
    update.script('true', { drain: { unmanagedPods: 'Delete' } })
    await cluster.until('it is named', () => /^shop\/slow is shutting down, for which/.test(reasonOf(cluster) ?? ''))
  })

  scenario('whose pods cannot be listed says that, and goes on when they can', { nodes: 3 }, async (story) => {
    const { cluster, update, person, faults } = story
    await person.deploys({ name: 'web', replicas: 2 })
    await cluster.pass(15_000)
    faults.refuse('watch', new KubeError('Forbidden', 'volumeattachments is forbidden'), volumeAttachments)
    const running = update.script('true', { drain: { timeout: '5m' } })
    const { reason } = await cluster.nodeIs('cp1', 'Draining', 'PodsUnknown')
    expect(reason?.message).toMatch(/^VolumeAttachments cannot be listed: .*is forbidden; nothing is asked to leave/)
    await cluster.nodeIs('cp1', 'Draining', 'DrainTimedOut')
    faults.allow('watch')
    await running.succeeds()
  })
})

function reasonOf(cluster: StoryCluster): string | undefined {
  return cluster.state('w1')?.status?.rollout?.reason?.message
}

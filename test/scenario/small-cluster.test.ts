import { describe, expect } from 'vitest'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'

const version = 'v1.35.4'
const single: NodeSpec = { name: 'cp1', role: 'control-plane', version }
const worker: NodeSpec = { name: 'w1', role: 'worker', version }
const cases = [
  { what: 'one node', nodes: [single] },
  { what: 'one control-plane node and one worker', nodes: [single, worker] },
].flatMap((entry) => [1, 2].map((operators) => ({ ...entry, operators })))

/** The nodes that an operator stood on when they were taken. */
function takenUnderOperator(cluster: StoryCluster): ReadonlySet<string> {
  const found = new Set<string>()
  cluster.sim.server.onCommit(({ kind }) => {
    if (kind !== 'Node') return
    for (const name of cluster.taken) {
      if (cluster.sim.podsOn(name).some(({ metadata }) => metadata.namespace === operatorNamespace)) found.add(name)
    }
  })
  return found
}

describe('a cluster too small to move the operator away', () => {
  for (const { what, nodes, operators } of cases) {
    const title = `${what}, ${operators} operator(s): the update finishes with the operator on the node being drained`
    scenario(title, { nodes, operators }, async ({ cluster, update, person }) => {
      await person.deploys({ name: 'web', replicas: 2, pod: { tolerations: [{ operator: 'Exists' }] } })
      await cluster.pass(10_000)
      const drained = takenUnderOperator(cluster)
      await update.kubernetes('v1.36.3').succeeds()
      expect(drained.size).toBeGreaterThan(0)
      for (const name of cluster.names) {
        expect(cluster.node(name)?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
        expect(cluster.isCordoned(name)).toBe(false)
      }
      await update.script('true', { name: 'second' }).succeeds()
      expect(Object.values(cluster.allRuns)).toEqual(nodes.map(() => 1))
    })
  }
})

import type { Node } from '../src/api/kube.ts'
import { strategyOf, waveLimit } from '../src/core/update/waves.ts'
import { MemberTable } from '../src/operator/update/member-table.ts'
import { type Bench, median } from './figure.ts'

const count = 5000
const rounds = 30

/** From the word that a wave may begin to its nodes in their turn, as the grant pass asks for them; nothing of it waits, so CPU time is all. */
export const planWave: Bench = {
  name: 'plan-wave',
  alone: true,
  measure: () => {
    const table = new MemberTable({
      standing: () => 'waiting',
      staging: () => 'no',
      isTaken: () => false,
      isOwnNode: () => false,
    })
    const nodes = inventedNodes()
    for (const node of nodes) table.refresh(node.metadata.name, node, undefined)
    const { waves } = strategyOf({ type: 'Batches' })
    const taken: number[] = []
    const tookMs = Array.from({ length: rounds }, (_, round) => {
      // A node that joined or left: everybody's turn is looked at anew.
      const [first] = nodes
      if (first) for (const node of [undefined, first]) table.refresh(first.metadata.name, node, undefined)
      const started = process.threadCpuUsage()
      table.openWave((workers) => waveLimit(waves, round % waves.length, workers))
      taken.push([...table.candidates()].length)
      const { user, system } = process.threadCpuUsage(started)
      return (user + system) / 1000
    })
    const what = `planning a wave of ${count} nodes (zones, weights), median of ${rounds}`
    return Promise.resolve({
      figures: [{ what, measured: median(tookMs), wanted: { atMost: 20 }, unit: 'ms' }],
      seen: { largest: Math.max(...tookMs), nodesOfTheLastWave: Math.max(...taken) },
    })
  },
}

function inventedNodes(): readonly Node[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: {
      name: `worker-${index}.example.internal`,
      uid: `uid-${index}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        'topology.kubernetes.io/zone': `zone-${index % 3}`,
        ...(index % 10 === 0 && { 'slipway.dev/weight': '10' }),
      },
    },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' as const }] },
  }))
}

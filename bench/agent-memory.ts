// What an agent with nothing to do costs on every node: the bundle, started as the shipped DaemonSet starts it.

import { setTimeout as wait } from 'node:timers/promises'
import { nodes } from '../src/api/kube.ts'
import { nodeStates } from '../src/api/node-state.ts'
import { Bed, until } from './bed.ts'
import { type Bench, median } from './figure.ts'
import { memoryOf } from './process-memory.ts'
import { agentNodeFlags } from './shipped-flags.ts'
import { buildBundle } from './slipway-process.ts'

const idleMs = 60_000
const samples = { count: 10, everyMs: 3_000 }
const name = 'node-1'

export const agentMemory: Bench = {
  name: 'agent-memory',
  alone: false,
  async measure(signal) {
    const bundle = await buildBundle()
    const bed = await Bed.start({ controllers: false }, signal)
    try {
      await bed.addNodes(1, 1, signal)
      const { uid } = (await bed.api.get(nodes, { name }, signal)).metadata
      const ownerReferences = [{ apiVersion: nodes.apiVersion, kind: nodes.kind, name, uid }]
      const { apiVersion, kind } = nodeStates
      await bed.api.create(nodeStates, { apiVersion, kind, metadata: { name, ownerReferences }, spec: {} }, signal)
      const args = ['agent', '--kubeconfig', bed.server.kubeconfigPath, '--node-name', name]
      const agent = bed.keep(
        bundle.start(agentNodeFlags(), [...args, '--state-dir', `${bed.server.dir}/agent`], bed.logPath('agent')),
      )
      await until('the agent to report', async () => {
        const { status } = await bed.api.get(nodeStates, { name }, signal)
        return status?.agent !== undefined
      })
      await wait(idleMs, undefined, { signal })
      const taken = []
      for (let count = 0; count < samples.count; count++) {
        taken.push(memoryOf(agent.pid))
        await wait(samples.everyMs, undefined, { signal })
      }
      const dirty = taken.map(({ privateDirtyMiB }) => privateDirtyMiB)
      const rss = taken.map(({ rssMiB }) => rssMiB)
      return {
        figures: [
          { what: 'agent, idle, bundled: private dirty', measured: median(dirty), wanted: { atMost: 25 }, unit: 'MiB' },
          { what: 'agent, idle, bundled: RSS', measured: median(rss), wanted: { atMost: 65 }, unit: 'MiB' },
        ],
        seen: { flags: agentNodeFlags().join(' '), dirtyMost: Math.max(...dirty), rssMost: Math.max(...rss) },
      }
    } finally {
      await bed.stop()
    }
  },
}

// The ConfigMap that names a bundle, where CUPCAKE's documents have it: in kube-system.

import { expect } from 'vitest'
import { type CupcakeDirectUpdate, cupcakeDirectUpdates } from '../../src/api/cupcake.ts'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { configMaps } from '../../src/api/kube.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'
import { installForeign, manifest } from './manifest.ts'

scenario(
  'a bundle that kube-system names is used; one that lies beside Slipway comes first',
  { nodes: oneAnd(2) },
  async (story) => {
    const { cluster, person } = story
    const { server } = cluster.sim
    await installForeign(story)
    await person.creates(cupcakeDirectUpdates, manifest(cupcakeDirectUpdates, 'cupcake/air-gapped.yaml'))
    const theirs = () => server.peek(cupcakeDirectUpdates, { name: 'air-gapped' }) as CupcakeDirectUpdate | undefined
    const ours = () => server.peekAll(directUpdates) as readonly DirectUpdate[]
    await cluster.until('it asks for a person', () => theirs()?.status?.phase === 'RequiresAttention')
    expect(theirs()?.status?.message).toContain(`in ${operatorNamespace} or kube-system`)
    const names = (namespace: string, url: string) => {
      const data = { url, sha256: 'b'.repeat(64) }
      return person.creates(configMaps, { metadata: { name: 'bundle', namespace }, data })
    }
    await names('kube-system', '/srv/theirs.tar')
    await cluster.until('ours is made', () => ours().length === 1)
    expect(ours()[0]?.spec.airGapped?.bundle.url).toBe('/srv/theirs.tar')
    await cluster.until('it is done', () => theirs()?.status?.phase === 'Succeeded')
    for (const name of cluster.names) expect(cluster.node(name)?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
    await names(operatorNamespace, '/srv/ours.tar')
    await person.changes(cupcakeDirectUpdates, 'air-gapped', { spec: { concurrency: 2 } })
    await cluster.pass(60_000)
    await person.changes(cupcakeDirectUpdates, 'air-gapped', { spec: { concurrency: 1 } })
    await cluster.until('the nearer one is named', () => ours()[0]?.spec.airGapped?.bundle.url === '/srv/ours.tar')
  },
)

import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { nodeStates } from '../../api/node-state.ts'
import { Cluster } from '../cluster/cluster.ts'
import { ControlPlaneEyes } from './control-plane-eyes.ts'

const { signal } = new AbortController()

it.each<[string, (api: FakeKubeApi) => void]>([
  [
    'was deleted and made again under its name',
    (api) => api.put(nodeStates, { metadata: { name: 'cp1', uid: 'new' } }),
  ],
  ['is gone', (api) => api.remove(nodeStates, { name: 'cp1' })],
])('asks the others where a node %s and the watch does not say so yet', async (_name, happens) => {
  const api = new FakeKubeApi()
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, 'slipway-system')
  for (const name of ['cp1', 'cp2']) {
    cluster.nodes.upsert(sampleNode(name, { controlPlane: true }))
    api.put(nodeStates, sampleState(name, {}))
    cluster.states.upsert(api.found(nodeStates, { name }))
  }
  happens(api)
  await new ControlPlaneEyes(ports, cluster, () => 7).ask(signal)
  expect(api.found(nodeStates, { name: 'cp2' }).spec.controlPlane?.ask).toMatch(/^7-/)
})

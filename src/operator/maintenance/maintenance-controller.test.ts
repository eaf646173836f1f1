import { expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { sampleAgent, sampleNode, sampleState } from '../../../test/samples/cluster-objects.ts'
import { nodes } from '../../api/kube.ts'
import { maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import type { WorkKind } from '../../api/window.ts'
import { EventRecorder } from '../../kube/event-recorder.ts'
import { Cluster } from '../cluster/cluster.ts'
import { LedgerBook } from '../ledger/ledger-book.ts'
import { ServerVersion } from '../server-version.ts'
import { Operations } from '../update/operations.ts'
import { makeMaintenanceReconcile } from './maintenance-controller.ts'
import { MaintenanceSource } from './maintenance-source.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'
const at = '2026-01-01T11:00:00.000Z'

/** Of a node whose host asks for maintenance and a reboot. */
async function looking() {
  const sentinels = { maintenanceRequired: at, rebootRequired: at }
  const node = sampleNode('w1')
  const state = sampleState('w1', { agent: sampleAgent({ sentinels }) })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'w1', uid: node.metadata.uid }]
  const api = new FakeKubeApi()
    .put(maintenancePolicies, { metadata: { name: policyName }, spec: { maintenance: {}, reboots: {} } })
    .put(nodes, node)
    .put(nodeStates, { ...state, metadata: { ...state.metadata, ownerReferences } })
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, namespace)
  cluster.policies.upsert(api.found(maintenancePolicies, { name: policyName }))
  cluster.nodes.upsert(api.found(nodes, { name: 'w1' }))
  cluster.states.upsert(api.found(nodeStates, { name: 'w1' }))
  const book = new LedgerBook(ports, cluster)
  const operations = new Operations(cluster, namespace)
  const open = new Set<WorkKind>(['Maintenance', 'Reboot'])
  const passes = { count: 0 }
  const reconcile = makeMaintenanceReconcile({
    ...{ ports, cluster, book, operations, namespace },
    source: new MaintenanceSource({
      ...{ cluster, namespace },
      isOpen: (kind) => open.has(kind),
      holderOf: (node) => book.holderOf(node),
    }),
    events: new EventRecorder({ ...ports, controller: 'slipway.dev/operator', instance: 'one', namespace: 'default' }),
    serverVersion: await ServerVersion.read(ports, signal),
    ownNode: undefined,
    wakeNode: () => undefined,
    wakeGrants: () => passes.count++,
  })
  return { look: () => reconcile('w1', signal), passes, open }
}

it('the ledger is passed over where maintenance begins or is another, not at every look', async () => {
  const { look, passes, open } = await looking()
  await look()
  expect(passes.count).toBe(1)
  await look()
  await look()
  expect(passes.count).toBe(1)
  open.delete('Reboot')
  await look()
  expect(passes.count).toBe(2)
})

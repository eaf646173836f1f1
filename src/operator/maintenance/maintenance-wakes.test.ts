import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../../api/maintenance-policy.ts'
import { nodeStates } from '../../api/node-state.ts'
import { Cluster } from '../cluster/cluster.ts'
import { LedgerBook } from '../ledger/ledger-book.ts'
import { Operations } from '../update/operations.ts'
import { WakeUps } from '../wake-ups.ts'
import { followMaintenance } from './maintenance-wakes.ts'

const { signal } = new AbortController()
const namespace = 'slipway-system'

/** The nodes that a change of the policy makes be looked at. */
async function wokenBy(change: (policy: MaintenancePolicy) => MaintenancePolicy): Promise<readonly string[]> {
  const api = new FakeKubeApi()
    .put(maintenancePolicies, {
      metadata: { name: policyName },
      spec: { maintenance: { jobs: [] } },
      status: { ledger: { epoch: 1, grants: [] } },
    })
    .put(nodeStates, { metadata: { name: 'w1' }, spec: {} })
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, namespace)
  const policy = api.found(maintenancePolicies, { name: policyName })
  cluster.policies.upsert(policy)
  cluster.states.upsert(api.found(nodeStates, { name: 'w1' }))
  const book = new LedgerBook(ports, cluster)
  const queue = followMaintenance(ports, cluster, new WakeUps(ports, cluster, book, new Operations(cluster, namespace)))
  const drained = async () => {
    const woken: string[] = []
    while (queue.depth > 0) {
      const key = (await queue.get(signal)) ?? ''
      woken.push(key)
      queue.done(key)
    }
    return woken
  }
  await drained()
  // As it comes over the wire: nothing of it is the same object.
  const changed = structuredClone(change(policy))
  const resourceVersion = String(Number(policy.metadata.resourceVersion) + 1)
  cluster.policies.upsert({ ...changed, metadata: { ...changed.metadata, resourceVersion } })
  return drained()
}

describe('a change of the policy', () => {
  it('in what a person wants wakes the maintenance of every node', async () => {
    expect(await wokenBy((policy) => ({ ...policy, spec: { taintWhileWaiting: true } }))).toEqual(['w1'])
  })

  it('in the ledger wakes none', async () => {
    expect(await wokenBy((policy) => ({ ...policy, status: { ledger: { epoch: 2, grants: [] } } }))).toEqual([])
  })
})

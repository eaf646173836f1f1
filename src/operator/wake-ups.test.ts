import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import { Cluster } from './cluster/cluster.ts'
import { LedgerBook } from './ledger/ledger-book.ts'
import { Operations } from './update/operations.ts'
import { WakeUps } from './wake-ups.ts'

const { signal } = new AbortController()
const since = '2026-01-01T00:00:00Z'
const grants = ['w1', 'w2'].map((node) => ({ node, nodeUID: node, holder: 'op', since }))

/** A leader whose ledger has two slots given out, and what a change of the policy leaves in the queue of nodes. */
async function led() {
  const api = new FakeKubeApi().put(maintenancePolicies, {
    metadata: { name: policyName },
    spec: {},
    status: { ledger: { epoch: 1, grants } },
  })
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, 'slipway-system')
  const book = new LedgerBook(ports, cluster)
  await book.open(0, signal)
  const wakeUps = new WakeUps(ports, cluster, book, new Operations(cluster, 'slipway-system'))
  const policy = api.found(maintenancePolicies, { name: policyName })
  cluster.policies.upsert(policy)
  wakeUps.follow()
  const { nodes } = wakeUps.queues
  return async (change: (policy: MaintenancePolicy) => MaintenancePolicy): Promise<readonly string[]> => {
    const changed = change(policy)
    const resourceVersion = String(Number(policy.metadata.resourceVersion) + 1)
    cluster.policies.upsert({ ...changed, metadata: { ...changed.metadata, resourceVersion } })
    const woken: string[] = []
    while (nodes.depth > 0) woken.push((await nodes.get(signal)) ?? '')
    return woken
  }
}

describe('a change of the policy', () => {
  it('in what a person wants wakes the nodes under work', async () => {
    const woken = await led()
    expect(await woken((policy) => ({ ...policy, spec: { drain: { unmanagedPods: 'Delete' } } }))).toEqual(['w1', 'w2'])
  })

  it('in the ledger wakes none', async () => {
    const woken = await led()
    expect(await woken((policy) => ({ ...policy, status: { ledger: { epoch: 3, grants: [] } } }))).toEqual([])
  })
})

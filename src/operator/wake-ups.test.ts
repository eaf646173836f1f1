import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { metadata } from '../../test/samples/cluster-objects.ts'
import type { Node } from '../api/kube.ts'
import { type MaintenancePolicy, maintenancePolicies, policyName } from '../api/maintenance-policy.ts'
import type { NodeState } from '../api/node-state.ts'
import { Cluster } from './cluster/cluster.ts'
import { LedgerBook } from './ledger/ledger-book.ts'
import { Operations } from './update/operations.ts'
import { WakeUps } from './wake-ups.ts'

const { signal } = new AbortController()
const since = '2026-01-01T00:00:00Z'
const grants = ['w1', 'w2'].map((node) => ({ node, nodeUID: node, holder: 'op', since }))

/** A leader whose ledger has two slots given out. */
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
  return { cluster, policy, ...wakeUps.queues }
}

/** What a change of the policy leaves in the queue of nodes. */
async function ledWithPolicy() {
  const { cluster, policy, nodes } = await led()
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
    const woken = await ledWithPolicy()
    expect(await woken((policy) => ({ ...policy, spec: { drain: { unmanagedPods: 'Delete' } } }))).toEqual(['w1', 'w2'])
  })

  it('in the ledger wakes none', async () => {
    const woken = await ledWithPolicy()
    expect(await woken((policy) => ({ ...policy, status: { ledger: { epoch: 3, grants: [] } } }))).toEqual([])
  })
})

describe('a control-plane node that no operation is about', () => {
  const master = { 'node-role.kubernetes.io/control-plane': '' }
  let version = 0
  const meta = (labels = {}) => ({ ...metadata('cp1', { resourceVersion: String(++version) }), labels })
  const agent = (facts: object) => ({ status: { agent: { facts } } }) as object as Pick<NodeState, 'status'>
  const node = (kubeletVersion: string, heartbeat: string, labels = master) => ({
    metadata: meta(labels),
    spec: {},
    status: {
      nodeInfo: { kubeletVersion },
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }],
    },
  })

  /** How often the ledger is looked at for each of these changes. */
  async function looks<T>(
    changes: readonly T[],
    change: (cluster: Cluster, to: T) => void,
  ): Promise<readonly number[]> {
    const { cluster, grants: queue } = await led()
    const told: number[] = []
    for (const to of changes) {
      while (queue.depth > 0) queue.done((await queue.get(signal)) ?? '')
      change(cluster, to)
      told.push(queue.depth)
    }
    return told
  }

  it('has the ledger looked at when its API server is another, not at each of its words', async () => {
    const words = [{}, { apiServer: 'v1.35.4' }, { apiServer: 'v1.35.4', freeGiB: 9 }, { apiServer: 'v1.36.3' }]
    const told = await looks(words, ({ states }, facts) =>
      states.upsert({ metadata: meta(), spec: {}, ...agent(facts) }),
    )
    expect(told).toEqual([0, 1, 0, 1])
  })

  it('has it looked at when its kubelet is another, not at each heartbeat, and not for a worker', async () => {
    const beats = [node('v1.35.4', '1'), node('v1.35.4', '2'), node('v1.36.3', '3')]
    expect(await looks(beats, ({ nodes }, to) => nodes.upsert(to as object as Node))).toEqual([1, 0, 1])
    const work = [node('v1.35.4', '1', {} as typeof master), node('v1.36.3', '3', {} as typeof master)]
    expect(await looks(work, ({ nodes }, to) => nodes.upsert(to as object as Node))).toEqual([1, 0])
  })
})

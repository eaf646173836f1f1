import { describe, expect, it } from 'vitest'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { fixedRandom } from '../../../test/fakes/fixed-random.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../../test/fakes/recording-log.ts'
import { metadata, sampleNode } from '../../../test/samples/cluster-objects.ts'
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.ts'
import { namedAtMost } from '../../api/console.ts'
import { cupcakeDirectUpdates, cupcakeNodeMarks } from '../../api/cupcake.ts'
import { type DirectUpdate, type DirectUpdateStatus, directUpdates } from '../../api/direct-update.ts'
import { nodes, type OwnerReference } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { NodePhase, NodeState } from '../../api/node-state.ts'
import { scheduledUpdates } from '../../api/schedule.ts'
import { Cluster } from '../cluster/cluster.ts'
import { CupcakeBackups } from './cupcake-backups.ts'
import { cupcakeOperationID } from './cupcake-direct-status.ts'
import { CupcakeOperations } from './cupcake-operations.ts'

const run = 'up/uid-1-work'
const id = cupcakeOperationID(run)
const since = '2026-01-01T12:00:00Z'
const { signal } = new AbortController()
const owner: OwnerReference = {
  apiVersion: cupcakeDirectUpdates.apiVersion,
  kind: 'DirectUpdate',
  name: 'up',
  uid: 'u',
}
const summary = { total: 2, done: 0, working: 1, waiting: 1, failed: 0, skipped: 0 }

let version = 0
const next = () => String(++version)

function update(status: DirectUpdateStatus, spec = {}): DirectUpdate {
  return {
    metadata: metadata('up', { ownerReferences: [owner], resourceVersion: next() }),
    spec: { kubernetes: { version: 'v1.36.3' }, ...spec },
    status: { operationID: run, summary, ...status },
  }
}

function state(name: string, phase: NodePhase, more: object = {}): NodeState {
  const rollout = { update: 'up', operationID: run, phase, since, attempt: 1, ...more }
  const steps = [
    { name: 'upgrade-kubelet', state: 'Succeeded', startedAt: since, finishedAt: '2026-01-01T12:00:30Z', attempts: 1 },
  ]
  const order = { id: `${run}/1`, state: 'Running', steps }
  const object = {
    metadata: metadata(name, { resourceVersion: next() }),
    spec: {},
    status: { rollout, agent: { order } },
  }
  return object as object as NodeState
}

async function setUp() {
  const api = new FakeKubeApi()
  const ports = { api, clock: new ManualClock(), random: fixedRandom(), log: new RecordingLog() }
  const cluster = new Cluster(ports, 'slipway-system')
  const metrics = new PrometheusMetrics()
  const operations = new CupcakeOperations(
    ports,
    cluster,
    metrics,
    new CupcakeBackups(ports, cluster, 'slipway-system'),
  )
  const refresh = () => {
    for (const node of api.stored(nodes)) cluster.nodes.upsert(node)
  }
  for (const name of ['w1', 'w2']) await api.create(nodes, sampleNode(name), signal)
  refresh()
  const marksOf = (name: string) => api.find(nodes, { name })?.metadata.annotations ?? {}
  const annotate = async (name: string, annotations: object) => {
    await api.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, signal)
    refresh()
  }
  const follow = async (object: DirectUpdate, ...states: readonly NodeState[]) => {
    const { spec, status } = object
    if (!api.find(directUpdates, { name: 'up' })) await api.create(directUpdates, object, signal)
    const body = { spec, status }
    cluster.updates.upsert(await api.patch(directUpdates, { name: 'up' }, { type: 'merge', body }, signal))
    for (const each of states) cluster.states.upsert(each)
    await operations.follow('up', signal)
    refresh()
  }
  return { api, cluster, metrics, operations, marksOf, annotate, follow }
}

describe('an operation for CUPCAKE', () => {
  it('marks the nodes it works on, and leaves how it went', async () => {
    const { api, marksOf, follow } = await setUp()
    await follow(update({ phase: 'InProgress' }), state('w1', 'Draining'), state('w2', 'Pending'))
    expect(marksOf('w1')).toMatchObject({
      [cupcakeNodeMarks.operation]: id,
      [cupcakeNodeMarks.version]: '1.36.3',
      [cupcakeNodeMarks.components]: 'kubeadm,kubelet,kubectl',
      [cupcakeNodeMarks.status]: 'pending',
    })
    expect(marksOf('w2')).not.toHaveProperty([cupcakeNodeMarks.status])
    const writes = api.patches.length
    await follow(update({ phase: 'InProgress' }), state('w1', 'Working'))
    expect(api.patches).toHaveLength(writes + 1)
    await follow(update({ phase: 'Succeeded' }), state('w1', 'Done'), state('w2', 'Done'))
    expect([marksOf('w1'), marksOf('w2')].map((marks) => marks[cupcakeNodeMarks.status])).toEqual([
      'completed',
      'completed',
    ])
  })

  it('has its series while it runs', async () => {
    const { metrics, follow } = await setUp()
    await follow(update({ phase: 'InProgress' }), state('w1', 'Working'))
    await follow(update({ phase: 'InProgress' }), state('w1', 'Working'))
    const text = await metrics.text()
    expect(text).toContain(`upgrade_in_progress{operation_id="${id}"} 1`)
    expect(text).toContain(`upgrade_operation_nodes_total{operation_id="${id}",status="upgrading"} 1`)
    expect(text).toContain(`_sum{operation_id="${id}",node="w1",step="upgrade-kubelet"} 30`)
    await follow(update({ phase: 'Failed' }), state('w1', 'Failed'))
    expect(await metrics.text()).not.toContain(id)
    expect(await metrics.text()).toContain('upgrade_operations_total{phase="Failed",operation_id=""} 1')
  })

  it('that ended under another leader is not counted again', async () => {
    const { metrics, follow } = await setUp()
    await follow(update({ phase: 'Succeeded' }), state('w1', 'Done'))
    expect(await metrics.text()).not.toContain('upgrade_operations_total{')
  })

  it('tries a failed node again when its mark is set back, and only then', async () => {
    const { api, operations, marksOf, annotate, follow } = await setUp()
    await annotate('w1', { [cupcakeNodeMarks.operation]: id, [cupcakeNodeMarks.status]: 'pending' })
    const retry = () => api.find(directUpdates, { name: 'up' })?.spec.retry
    await follow(update({ phase: 'Failed' }), state('w1', 'Failed'))
    expect(marksOf('w1')[cupcakeNodeMarks.status]).toBe('failed')
    await follow(update({ phase: 'Failed' }))
    expect(retry()).toBeUndefined()
    await annotate('w1', { [cupcakeNodeMarks.status]: 'pending' })
    // Somebody else writes first: the wish must not be lost.
    let isFirst = true
    api.before = (verb, type) => {
      if (verb !== 'patch' || type !== directUpdates || !isFirst) return
      isFirst = false
      throw new KubeError('Conflict', 'the object has been modified')
    }
    await expect(operations.follow('up', signal)).rejects.toThrow('modified')
    await operations.follow('up', signal)
    const asked = retry()
    await operations.follow('up', signal)
    expect(retry()).toEqual(asked)
    expect(asked).toMatchObject({ nodes: ['w1'], token: /./ })
    expect(marksOf('w1')[cupcakeNodeMarks.status]).toBe('pending')
  })

  it('tries one again beside those that were asked for and not tried yet', async () => {
    const { api, annotate, follow } = await setUp()
    const failed = {
      status: { phase: 'Failed' as const, retried: '1' },
      spec: { retry: { token: '1', nodes: ['w2'] } },
    }
    const both = [state('w1', 'Failed', { retried: '1' }), state('w2', 'Failed')]
    await follow(update(failed.status, failed.spec), ...both)
    // The mark `failed` is seen.
    await follow(update(failed.status, failed.spec))
    await annotate('w1', { [cupcakeNodeMarks.status]: 'pending' })
    await follow(update(failed.status, failed.spec), ...both)
    expect(api.find(directUpdates, { name: 'up' })?.spec.retry?.nodes).toEqual(['w2', 'w1'])
  })

  it('tries more again than one word can name by and by, and says no word twice', async () => {
    const { api, annotate, follow } = await setUp()
    const names = Array.from({ length: namedAtMost + 1 }, (_, index) => `n${100 + index}`)
    for (const name of names) await api.create(nodes, sampleNode(name), signal)
    await annotate('w1', {})
    const failed = () => update({ phase: 'Failed' })
    await follow(failed(), ...names.map((name) => state(name, 'Failed')))
    // The mark `failed` is seen.
    await follow(failed())
    for (const name of names) await annotate(name, { [cupcakeNodeMarks.status]: 'pending' })
    const retryAfter = async (...states: readonly NodeState[]) => {
      const { spec, status } = api.found(directUpdates, { name: 'up' })
      await follow({ metadata: metadata('up'), spec, status: status ?? {} }, ...states)
      return api.found(directUpdates, { name: 'up' }).spec.retry
    }
    const first = await retryAfter()
    expect(first?.nodes).toEqual(names.slice(0, namedAtMost))
    expect(await retryAfter()).toEqual(first)
    const next = await retryAfter(state('n100', 'Draining'))
    expect(next?.nodes).toEqual(names.slice(1))
    expect(next?.token).not.toBe(first?.token)
  })

  it('that is gone leaves no node waiting for it', async () => {
    const { cluster, operations, marksOf, annotate, follow } = await setUp()
    await follow(update({ phase: 'InProgress' }), state('w1', 'Working'), state('w2', 'Done'))
    await operations.sweep(signal)
    expect(marksOf('w1')[cupcakeNodeMarks.status]).toBe('pending')
    cluster.updates.remove('up')
    await annotate('w1', {})
    await operations.sweep(signal)
    expect(marksOf('w1')).not.toHaveProperty([cupcakeNodeMarks.operation])
    expect(marksOf('w2')[cupcakeNodeMarks.status]).toBe('completed')
  })

  it('may have come by way of a schedule', async () => {
    const { cluster, operations } = await setUp()
    const spec = { at: since, template: { spec: {} } }
    cluster.scheduledUpdates.upsert({ metadata: metadata('night', { ownerReferences: [owner] }), spec })
    const made = (name: string) => ({
      metadata: metadata('u1', {
        ownerReferences: [{ apiVersion: scheduledUpdates.apiVersion, kind: scheduledUpdates.kind, name, uid: 'x' }],
      }),
    })
    expect(operations.isTheirs(made('night'))).toBe(true)
    expect(operations.isTheirs(made('other'))).toBe(false)
    expect(operations.isTheirs({ metadata: metadata('u2') })).toBe(false)
  })
})

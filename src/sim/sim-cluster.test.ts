import { describe, expect, it } from 'vitest'
import { daemonSets, deployments, leases, nodes, podDisruptionBudgets, pods } from '../api/kube.ts'
import { isReady } from './actors/actor.ts'
import { SimCluster, type SimClusterOptions } from './sim-cluster.ts'
import type { NodeSpec } from './sim-machine.ts'
import { createDaemonSet, createOperatorPods, createWorkload, operatorNamespace } from './workloads.ts'

const signal = new AbortController().signal
const workers = (count: number): readonly NodeSpec[] =>
  Array.from({ length: count }, (_, index) => ({ name: `w${index + 1}`, role: 'worker', version: 'v1.35.4' }))

function cluster(options: Partial<SimClusterOptions> = {}) {
  const made = new SimCluster({ seed: 1, nodes: workers(3), ...options }).start()
  return { made, api: made.client('test') }
}

const allPods = (made: SimCluster) => made.server.peekAll(pods)
function nodeOf(made: SimCluster, name: string) {
  const node = made.server.peek(nodes, { name })
  if (node === undefined) throw new Error(`no node ${name}`)
  return node
}
const runningPods = (made: SimCluster) => allPods(made).filter(isReady)

describe('simulated cluster', () => {
  it('registers nodes, Ready, with version, boot id and lease', async () => {
    const { made } = cluster()
    await made.run({ limitMs: 30_000 })
    const node = nodeOf(made, 'w1')
    expect(isReady(node)).toBe(true)
    expect(node.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
    expect(made.server.peek(leases, { namespace: 'kube-node-lease', name: 'w1' })).toBeDefined()
    expect(made.failures).toEqual([])
  })

  it('brings a Deployment up, spread over the nodes, and its budget true', async () => {
    const { made, api } = cluster({ latencyMs: [5, 50], actorLatencyMs: [5, 50] })
    // Pods that wait already all go to the first node that is Ready.
    await made.run({ limitMs: 5000 })
    await createWorkload(api, { namespace: 'default', name: 'shop', replicas: 6, maxUnavailable: 1 }, signal)
    await made.run({ limitMs: 60_000, until: () => runningPods(made).length === 6 })
    expect(['w1', 'w2', 'w3'].map((name) => made.podsOn(name).length)).toEqual([2, 2, 2])
    await made.run({ limitMs: 5000 })
    expect(made.server.peek(podDisruptionBudgets, { namespace: 'default', name: 'shop' })?.status).toMatchObject({
      disruptionsAllowed: 1,
      currentHealthy: 6,
      desiredHealthy: 5,
      expectedPods: 6,
    })
    expect(made.server.peek(deployments, { namespace: 'default', name: 'shop' })?.status).toMatchObject({
      readyReplicas: 6,
    })
  })

  it('drains by eviction as budgets allow, and pods come up elsewhere', async () => {
    const { made, api } = cluster()
    await createWorkload(api, { namespace: 'default', name: 'shop', replicas: 6, maxUnavailable: 1 }, signal)
    await made.run({ limitMs: 60_000, until: () => runningPods(made).length === 6 })
    await made.run({ limitMs: 1000 })
    await api.patch(nodes, { name: 'w1' }, { type: 'merge', body: { spec: { unschedulable: true } } }, signal)
    const [first, second] = made.podsOn('w1')
    await api.evict({ name: first?.metadata.name ?? '', namespace: 'default' }, {}, signal)
    await expect(
      api.evict({ name: second?.metadata.name ?? '', namespace: 'default' }, {}, signal),
    ).rejects.toMatchObject({ code: 'TooManyRequests' })
    await made.run({ limitMs: 120_000 })
    await api.evict({ name: second?.metadata.name ?? '', namespace: 'default' }, {}, signal)
    await made.run({ limitMs: 120_000 })
    expect(made.podsOn('w1')).toEqual([])
    expect(runningPods(made).length).toBe(6)
  })

  it('keeps a DaemonSet pod on every node, cordoned or not', async () => {
    const { made, api } = cluster()
    await createDaemonSet(api, 'kube-system', 'net', signal)
    await api.create(nodes, { metadata: { name: 'far' }, spec: {} }, signal)
    await made.run({ limitMs: 30_000 })
    await api.patch(nodes, { name: 'w2' }, { type: 'merge', body: { spec: { unschedulable: true } } }, signal)
    const [pod] = made.podsOn('w2')
    await api.delete(pods, { name: pod?.metadata.name ?? '', namespace: 'kube-system' }, {}, signal)
    await made.run({ limitMs: 60_000 })
    expect(made.podsOn('w2').map((one) => isReady(one))).toEqual([true])
    expect(made.server.peek(daemonSets, { namespace: 'kube-system', name: 'net' })?.status).toMatchObject({
      desiredNumberScheduled: 4,
      numberReady: 3,
    })
  })

  it('a machine without power is found out, and its pods start again when it is back', async () => {
    const { made, api } = cluster()
    await createDaemonSet(api, 'kube-system', 'net', signal)
    await made.run({ limitMs: 30_000 })
    const before = nodeOf(made, 'w1')
    made.machine('w1').losePowerFor(90_000)
    await made.run({ limitMs: 60_000 })
    const away = nodeOf(made, 'w1')
    expect(isReady(away)).toBe(false)
    expect(away.spec.taints?.map(({ key }) => key)).toContain('node.kubernetes.io/unreachable')
    await made.run({ limitMs: 60_000 })
    const back = nodeOf(made, 'w1')
    expect(isReady(back)).toBe(true)
    expect(back.spec.taints ?? []).toEqual([])
    expect(back.status?.nodeInfo?.bootID).not.toBe(before.status?.nodeInfo?.bootID)
    expect(made.podsOn('w1').map((one) => isReady(one))).toEqual([true])
  })

  it('runs a program in a pod, restarts it when it crashes, and stops it with the pod', async () => {
    const log: string[] = []
    const { made, api } = cluster({
      programs: {
        slipway: async (pod, process) => {
          log.push(`start ${process.name.split('/')[0]}`)
          await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve()))
          log.push(`stop ${pod.metadata.namespace}`)
        },
      },
    })
    await createOperatorPods(api, 2, signal)
    await made.run({ limitMs: 60_000, until: () => made.programs().length === 2 })
    expect(new Set(allPods(made).map((pod) => pod.spec.nodeName)).size).toBe(2)
    made.programs()[0]?.crash()
    await made.run({ limitMs: 10_000 })
    expect(made.programs().length).toBe(2)
    await api.delete(deployments, { namespace: operatorNamespace, name: 'slipway' }, {}, signal)
    await made.run({ limitMs: 60_000 })
    expect(log).toEqual([
      'start operator',
      'start operator',
      'start operator',
      `stop ${operatorNamespace}`,
      `stop ${operatorNamespace}`,
    ])
    expect(allPods(made)).toEqual([])
  })

  it('goes the same way twice from one seed', async () => {
    const history = async () => {
      const { made, api } = cluster({ latencyMs: [5, 50], actorLatencyMs: [5, 50] })
      const told: string[] = []
      made.server.onCommit(({ type, kind, client, time, after }) => {
        told.push(`${time} ${client} ${type} ${kind} ${after?.metadata.name} ${after?.metadata.uid}`)
      })
      await createWorkload(api, { namespace: 'default', name: 'shop', replicas: 6, maxUnavailable: 1 }, signal)
      await made.run({ limitMs: 60_000 })
      return told
    }
    const first = await history()
    expect(first.length).toBeGreaterThan(50)
    expect(await history()).toEqual(first)
  })
})

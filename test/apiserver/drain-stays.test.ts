// The rungs of the ladder on which pods stay: those nobody evicts, those the settings protect, and those that wait for another
// node's turn at a budget. One node and one update each, at the same time.

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, type ExpectStatic, test, vi } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { configMaps, daemonSets, deployments, type PodSpec, podDisruptionBudgets, pods } from '../../src/api/kube.ts'
import { nodeStates, type Rollout } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { auditedWrites } from '../rollout-rig/audit-log.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const script = 'true'
const sha256 = createHash('sha256').update(script).digest('hex')
const within = { timeout: 150_000, interval: 200 }
const shop = 'default'
const containers = [{ name: 'main', image: 'none' }]

describe.skipIf(missing).concurrent('pods that stay, or wait', { timeout: 280_000 }, () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 7, agentProcesses: 1, work: '1s', version: 'v1.36.3' })
    await rig.api.create(configMaps, { metadata: { name: 'work', namespace }, data: { script } }, signal)
  })

  afterAll(async () => {
    await rig?.stop()
  })

  const work = (name: string, selector: DirectUpdateSpec['nodeSelector'], drain: DirectUpdateSpec['drain'] = {}) =>
    rig.createUpdate(name, {
      script: { configMap: 'work', sha256 },
      ...(selector && { nodeSelector: selector }),
      // Preflight knows a budget that allows nothing; here the drain is to meet it.
      preflight: { skip: ['DisruptionBudgets'] },
      drain,
    })
  const on = (node: string) => ({ matchLabels: { 'kubernetes.io/hostname': node } })

  const isTold = (node: string, code: string): Promise<Rollout> =>
    vi.waitFor(async () => {
      const rollout = (await rig.api.get(nodeStates, { name: node }, signal)).status?.rollout
      if (rollout?.reason?.code !== code) throw new Error(`${node}: ${JSON.stringify(rollout)}`)
      return rollout
    }, within)

  const succeeds = async (name: string, expect: ExpectStatic) =>
    expect((await rig.ended(name, within.timeout)).status?.phase).toBe('Succeeded')

  const runs = async (name: string, metadata: object, spec: Partial<PodSpec>): Promise<string> => {
    const made = { metadata: { name, namespace: shop, ...metadata }, spec: { containers, ...spec } }
    const pod = await rig.api.create(pods, made, signal)
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(pods, { name, namespace: shop }, signal)
      if (status?.phase !== 'Running') throw new Error(`${name} is ${status?.phase}`)
    }, within)
    return pod.metadata.uid
  }

  /** The very pod is still there, and nobody asked it to go. */
  const stands = async (name: string, uid: string, expect: ExpectStatic) => {
    const { metadata } = await rig.api.get(pods, { name, namespace: shop }, signal)
    expect({ uid: metadata.uid, going: metadata.deletionTimestamp }).toEqual({ uid, going: undefined })
  }

  test('static pods and pods of DaemonSets stay', async ({ expect }) => {
    const labels = { app: 'log' }
    const template = { metadata: { labels }, spec: { containers } }
    const metadata = { name: 'log', namespace: shop }
    const owner = await rig.api.create(
      daemonSets,
      { metadata, spec: { selector: { matchLabels: labels }, template } },
      signal,
    )
    const { uid } = owner.metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'log', uid, controller: true }]
    const ofDaemonSet = await runs('log-1', { labels, ownerReferences }, { nodeName: 'w1' })
    const annotations = { 'kubernetes.io/config.mirror': 'abc' }
    const mirror = await runs('static-w1', { annotations }, { nodeName: 'w1' })
    await work('skips', on('w1'))
    await succeeds('skips', expect)
    await stands('log-1', ofDaemonSet, expect)
    await stands('static-w1', mirror, expect)
  })

  test('a pod that nothing would make again waits for a person', async ({ expect }) => {
    const uid = await runs('alone', {}, { nodeName: 'w2' })
    await work('unmanaged', on('w2'))
    const { reason } = await isTold('w2', 'PodUnmanaged')
    expect(reason?.message).toContain('default/alone')
    await stands('alone', uid, expect)
    await kubectl(rig.server, ['delete', 'pod', 'alone', '--wait=false'])
    await succeeds('unmanaged', expect)
  })

  test('a pod with data in an emptyDir waits where the settings say so', async ({ expect }) => {
    const volumes = [{ name: 'data', emptyDir: {} }]
    const uid = await runs('keeps', {}, { nodeName: 'w3', volumes })
    await work('data', on('w3'), { emptyDir: 'Block', unmanagedPods: 'Delete' })
    const { reason } = await isTold('w3', 'PodKeepsData')
    expect(reason?.message).toContain('default/keeps')
    await stands('keeps', uid, expect)
    const body = { spec: { drain: { emptyDir: 'Delete', unmanagedPods: 'Delete' } } }
    await kubectl(rig.server, ['patch', 'directupdate', 'data', '--type=merge', '-p', JSON.stringify(body)])
    await succeeds('data', expect)
  })

  test('two drains against one budget: the node that was taken first is emptied first', async ({ expect }) => {
    const drained = ['w5', 'w4']
    for (const node of drained) await kubectl(rig.server, ['label', 'node', node, 'pair=yes'])
    const labels = { app: 'pair' }
    const selector = { matchLabels: labels }
    const metadata = { name: 'pair', namespace: shop }
    const topologySpreadConstraints = [
      {
        ...{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', labelSelector: selector },
        whenUnsatisfiable: 'ScheduleAnyway' as const,
      },
    ]
    const spec = { nodeSelector: { pair: 'yes' }, containers, topologySpreadConstraints }
    const template = { metadata: { labels }, spec }
    await rig.api.create(deployments, { metadata, spec: { replicas: 8, selector, template } }, signal)
    await rig.api.create(podDisruptionBudgets, { metadata, spec: { selector, minAvailable: 8 } }, signal)
    const homes = await vi.waitFor(async () => {
      const { items } = await rig.api.list(pods, { namespace: shop, labelSelector: 'app=pair' }, signal)
      const running = items.filter(({ status }) => status?.phase === 'Running')
      expect(running).toHaveLength(8)
      return new Map(running.map((pod) => [pod.metadata.name, pod.spec.nodeName ?? '']))
    }, within)
    const inTurn = [...homes.values()].toSorted().toReversed()
    for (const node of drained) expect(inTurn.filter((home) => home === node).length).toBeGreaterThan(1)
    // Both stand before a budget that allows nothing; then there is room elsewhere, and it allows one at a time.
    for (const node of drained) {
      await work(node, on(node))
      await isTold(node, 'PodDisruptionBudget')
    }
    // A new leader meets them in the order of their names, in which they must not go.
    const { leader, standby } = await rig.leader()
    const { epoch = 0 } = (await rig.policy()).status?.ledger ?? {}
    await leader.process.kill()
    await vi.waitFor(async () => expect((await rig.policy()).status?.ledger?.epoch).toBeGreaterThan(epoch), within)
    expect((await rig.leader()).leader).toBe(standby)
    await wait(3_000)
    await kubectl(rig.server, ['label', 'node', 'w6', 'pair=yes'])
    const body = JSON.stringify({ spec: { minAvailable: 7 } })
    await kubectl(rig.server, ['patch', 'pdb', 'pair', '--type=merge', '-p', body])
    for (const node of drained) await succeeds(node, expect)

    const evicted = (await auditedWrites(rig.server)).flatMap(({ target, code }) => {
      const [resource, pod = '', what] = target.split('/')
      return resource === 'pods' && what === 'eviction' && code < 300 ? (homes.get(pod) ?? []) : []
    })
    expect(evicted).toEqual(inTurn)
  })
})

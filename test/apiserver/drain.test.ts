// The drain ladder against the real eviction API and the real disruption controller: one node and one update a rung, all at
// the same time. What is told is read off the API, by a client that is not the operator's.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, type ExpectStatic, test, vi } from 'vitest'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import {
  type ConfigMap,
  configMaps,
  deployments,
  events,
  nodes,
  type PodSpec,
  podDisruptionBudgets,
  pods,
} from '../../src/api/kube.ts'
import { isKubeError } from '../../src/api/kube-error.ts'
import { persistentVolumeClaims, volumeAttachments } from '../../src/api/kube-storage.ts'
import { nodeStates, type Rollout } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { keepPodsFromGoing, letPodsBeEvicted, refusalWords } from './refusing-policies.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const script = 'true'
const sha256 = createHash('sha256').update(script).digest('hex')
const within = { timeout: 150_000, interval: 200 }
const finalizer = 'example.com/keep'
const shop = 'default'

describe.skipIf(missing).concurrent('a drain on a real API server', { timeout: 280_000 }, () => {
  let rig: RolloutRig

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 11, agentProcesses: 2, work: '1s', version: 'v1.35.4' })
    const metadata = { name: 'work', namespace }
    await rig.api.create<ConfigMap>(configMaps, { metadata, data: { script } }, signal)
    await keepPodsFromGoing(rig.server, rig.api)
  })

  afterAll(async () => {
    await rig?.stop()
  })

  /** An update for this node alone. */
  const work = (node: string, drain: DirectUpdateSpec['drain'] = {}) =>
    rig.createUpdate(node, {
      // Preflight knows such budgets; here the drain is to meet them.
      preflight: { skip: ['DisruptionBudgets', 'PodsUnderTwoBudgets'] },
      script: { configMap: 'work', sha256 },
      nodeSelector: { matchLabels: { 'kubernetes.io/hostname': node } },
      drain,
    })

  const rollout = async (node: string): Promise<Rollout | undefined> =>
    (await rig.api.get(nodeStates, { name: node }, signal)).status?.rollout

  const isTold = (node: string, code: string): Promise<Rollout> =>
    vi.waitFor(async () => {
      const found = await rollout(node)
      if (found?.reason?.code !== code) throw new Error(`${node}: ${JSON.stringify(found)}`)
      return found
    }, within)

  const succeeds = async (node: string, expect: ExpectStatic) => {
    expect((await rig.ended(node, within.timeout)).status?.phase).toBe('Succeeded')
    expect((await rig.api.get(nodes, { name: node }, signal)).spec.unschedulable).toBeUndefined()
  }

  /** A pod that is bound to the node from the start and runs there. */
  const bare = async (name: string, nodeName: string, part: Partial<PodSpec> = {}, labels = {}): Promise<void> => {
    const spec = { nodeName, containers: [{ name: 'main', image: 'none' }], ...part }
    await rig.api.create(pods, { metadata: { name, namespace: shop, labels }, spec }, signal)
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(pods, { name, namespace: shop }, signal)
      if (status?.phase !== 'Running') throw new Error(`${name} is ${status?.phase}`)
    }, within)
  }

  /** Two pods on the node, and a budget that wants this many of them. */
  const web = async (name: string, node: string, minAvailable: number): Promise<void> => {
    const metadata = { name, namespace: shop }
    const labels = { app: name }
    const selector = { matchLabels: labels }
    const containers = [{ name: 'main', image: 'none' }]
    const template = { metadata: { labels }, spec: { nodeSelector: { web: name }, containers } }
    await kubectl(rig.server, ['label', 'node', node, `web=${name}`])
    await rig.api.create(deployments, { metadata, spec: { replicas: 2, selector, template } }, signal)
    await rig.api.create(podDisruptionBudgets, { metadata, spec: { selector, minAvailable } }, signal)
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(podDisruptionBudgets, metadata, signal)
      if (status?.currentHealthy !== 2) throw new Error(`${name}: ${JSON.stringify(status)}`)
    }, within)
  }

  const isGone = (name: string): Promise<boolean> =>
    rig.api.get(pods, { name, namespace: shop }, signal).then(
      () => false,
      (error: unknown) => {
        if (isKubeError(error, 'NotFound')) return true
        throw error
      },
    )

  const toldOf = async (node: string, reason: string): Promise<readonly string[]> => {
    const { items } = await rig.api.list(events, { namespace: shop }, signal)
    return items
      .filter((event) => event.regarding.name === node && event.reason === reason)
      .map(({ related, note, reportingInstance, eventTime }) =>
        [related?.kind, related?.name, note, reportingInstance, eventTime].join(' '),
      )
  }

  test('leaves what a rule skips, and waits for what may run to its end', async ({ expect }) => {
    await bare('stays', 'w1', {}, { app: 'stays' })
    await bare('ends', 'w1', { restartPolicy: 'Never' }, { app: 'ends' })
    const rule = (app: string) => ({ selector: { matchLabels: { app } } })
    await work('w1', {
      rules: [
        { ...rule('stays'), action: 'Skip' },
        { ...rule('ends'), action: 'WaitForCompletion', timeout: '2m' },
      ],
    })
    await succeeds('w1', expect)
    expect(await isGone('stays')).toBe(false)
    const { status, metadata } = await rig.api.get(pods, { name: 'ends', namespace: shop }, signal)
    expect(status?.phase).toBe('Succeeded')
    expect(metadata.deletionTimestamp).toBeUndefined()
  })

  test('names workload, budget and the pod that keeps it', async ({ expect }) => {
    await web('escalates', 'w2', 1)
    await work('w2')
    const { reason } = await isTold('w2', 'PodDisruptionBudget')
    expect(reason?.message).toMatch(
      /default\/escalates-\S+ of Deployment default\/escalates waits for PodDisruptionBudget default\/escalates \(0 disruptions allowed; .*: pod default\/escalates-\S+ is Pending on no node since \S+: 0\/12 nodes are available/,
    )
    await kubectl(rig.server, ['label', 'node', 'w11', 'web=escalates'])
    await succeeds('w2', expect)
  })

  test('forces after its time, tells each pod, and only where the settings say so', async ({ expect }) => {
    await web('forced', 'w3', 2)
    await work('w3', { timeout: '20s', onTimeout: 'Force' })
    await isTold('w3', 'PodForced')
    await succeeds('w3', expect)
    // A pod of the operator may be there as well, and wait for its own budget.
    const told = async () => (await toldOf('w3', 'PodForced')).filter((line) => line.startsWith('Pod forced-'))
    await vi.waitFor(async () => expect(await told()).toHaveLength(2), within)
  })

  test('holds after its time where they do not', async ({ expect }) => {
    await web('holds', 'w4', 2)
    await work('w4', { timeout: '5s' })
    const { reason } = await isTold('w4', 'DrainTimedOut')
    expect(reason?.message).toContain('it wants all of its 2 pods')
    await kubectl(rig.server, ['scale', 'deployment', 'holds', '--replicas=3'])
    await kubectl(rig.server, ['label', 'node', 'w11', 'web=holds', '--overwrite'])
    await succeeds('w4', expect)
    expect(await toldOf('w4', 'PodForced')).toEqual([])
  })

  test('gives up where they say so, and puts the node back', async ({ expect }) => {
    await web('aborts', 'w5', 2)
    await work('w5', { timeout: '5s', onTimeout: 'Abort' })
    expect((await rig.ended('w5', within.timeout)).status?.phase).toBe('Failed')
    await vi.waitFor(async () => {
      const { spec, metadata } = await rig.api.get(nodes, { name: 'w5' }, signal)
      expect(spec.unschedulable).toBeUndefined()
      expect(metadata.annotations?.['slipway.dev/cordon']).toBeUndefined()
      expect((await rig.policy()).status?.ledger?.grants.map(({ node }) => node)).not.toContain('w5')
    }, within)
    expect(await rollout('w5')).toMatchObject({ phase: 'Failed', reason: { code: 'DrainAborted' } })
    const { items } = await rig.api.list(pods, { namespace: shop, labelSelector: 'app=aborts' }, signal)
    expect(items.map(({ spec, metadata }) => [spec.nodeName, metadata.deletionTimestamp])).toEqual([
      ['w5', undefined],
      ['w5', undefined],
    ])
  })

  test('names the finalizer that keeps a pod', async ({ expect }) => {
    await bare('kept', 'w6')
    const finalizers = (list: readonly string[] | null) =>
      rig.api.patch(
        pods,
        { name: 'kept', namespace: shop },
        { type: 'merge', body: { metadata: { finalizers: list } } },
        signal,
      )
    await finalizers([finalizer])
    await work('w6', { unmanagedPods: 'Delete', podGracePeriod: '1s' })
    const { reason, drain } = await isTold('w6', 'PodFinalizers')
    expect(reason?.message).toContain(`default/kept has ended, and is kept by ${finalizer}`)
    expect(drain?.pods).toContainEqual(expect.objectContaining({ pod: 'default/kept', state: 'Terminating' }))
    await finalizers(null)
    await succeeds('w6', expect)
  })

  test('waits for volumes of pods that left, not for those of pods that stay', async ({ expect }) => {
    for (const name of ['left', 'stayed']) {
      const claim = { accessModes: ['ReadWriteOnce'], storageClassName: '', volumeName: `pv-${name}` }
      const resources = { requests: { storage: '1Gi' } }
      const metadata = { name, namespace: shop }
      await rig.api.create(persistentVolumeClaims, { metadata, spec: { ...claim, resources } }, signal)
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }]
      await bare(`${name}-pod`, 'w7', { volumes }, { app: name })
      const spec = { attacher: 'csi.test', nodeName: 'w7', source: { persistentVolumeName: `pv-${name}` } }
      await rig.api.create(volumeAttachments, { metadata: { name: `csi-${name}` }, spec }, signal)
    }
    const selector = { matchLabels: { app: 'stayed' } }
    await work('w7', {
      unmanagedPods: 'Delete',
      podGracePeriod: '1s',
      volumeTimeout: '5s',
      rules: [{ selector, action: 'Skip' }],
    })
    const { reason } = await isTold('w7', 'VolumesStuck')
    expect(reason?.message).toBe('volume pv-left is still attached to w7 (VolumeAttachment csi-left)')
    expect((await rig.api.get(nodeStates, { name: 'w7' }, signal)).spec.order?.desired).not.toBe('Run')
    await rig.api.delete(volumeAttachments, { name: 'csi-left' }, {}, signal)
    await succeeds('w7', expect)
  })

  test('quotes whoever refuses the eviction, and goes on when that is over', async ({ expect }) => {
    await bare('refused', 'w8')
    await work('w8', { unmanagedPods: 'Delete' })
    const { reason } = await isTold('w8', 'PodEvictionRefused')
    expect(reason?.message).toContain('default/refused: ')
    expect(reason?.message).toContain(refusalWords)
    await letPodsBeEvicted(rig.server)
    await succeeds('w8', expect)
  })

  test('removes what does not end, only where the settings say so, and tells it', async ({ expect }) => {
    await bare('stuck', 'w10')
    const rule = { action: 'Force', timeout: '1m', gracePeriod: '1s' } as const
    await work('w10', { rules: [rule] })
    const { drain } = await isTold('w10', 'PodTerminating')
    expect(drain?.pods).toContainEqual(expect.objectContaining({ pod: 'default/stuck', state: 'Terminating' }))
    await succeeds('w10', expect)
    const removed = expect.stringMatching(/^Pod /)
    await vi.waitFor(async () => expect(await toldOf('w10', 'PodRemoved')).toEqual([removed]), within)
  })

  test('names both budgets of a pod that no API server evicts', async ({ expect }) => {
    await web('doubled', 'w9', 0)
    const spec = { selector: { matchLabels: { app: 'doubled' } }, minAvailable: 0 }
    await rig.api.create(podDisruptionBudgets, { metadata: { name: 'second', namespace: shop }, spec }, signal)
    await work('w9')
    const { reason } = await isTold('w9', 'PodUnderTwoBudgets')
    expect(reason?.message).toContain('PodDisruptionBudget default/doubled')
    expect(reason?.message).toContain('PodDisruptionBudget default/second')
    await rig.api.delete(podDisruptionBudgets, { name: 'second', namespace: shop }, {}, signal)
    await succeeds('w9', expect)
  })

  test(rightsTitle, { concurrent: false }, async () => {
    await expectRightsUsed(rig.server, 'drain')
  })
})

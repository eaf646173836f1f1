// Situations in which a drain waits, and on which pod.

import { type Pod, pods, statefulSets } from '../../src/api/kube.ts'
import { KubeError } from '../../src/api/kube-error.ts'
import { persistentVolumeClaims, volumeAttachments } from '../../src/api/kube-storage.ts'
import type { Story } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { type Person, shop } from './story-person.ts'
import { podOf, type Situation } from './why-asking.ts'

export const onW1 = { nodeSelector: { 'kubernetes.io/hostname': 'w1' } }
const w1Only = { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } }
const workers = {
  matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
}
const keeper = 'example.com/keep'

export const podsOf = (cluster: StoryCluster, node: string): readonly Pod[] =>
  cluster.sim.podsOn(node).filter(({ metadata }) => metadata.namespace === shop)

export async function deploys({ cluster, person }: Story, workload: Parameters<Person['deploys']>[0]): Promise<void> {
  await person.deploys(workload)
  await cluster.pass(15_000)
}

/** The drain of w1 until the reason is told. */
export async function drains({ cluster, update }: Story, code: string, drain: object = {}): Promise<void> {
  update.script('true', { ...w1Only, drain })
  await cluster.nodeIs('w1', 'Draining', code)
}

export const drainingSituations: readonly Situation[] = [
  {
    name: 'a budget that never allows anything',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 2, maxUnavailable: 0, pod: onW1 })
      await drains(story, 'PodDisruptionBudget')
    },
    asked: [
      {
        of: 'w1',
        code: 'PodDisruptionBudget',
        names: /shop\/web-\S+ of Deployment shop\/web waits for PodDisruptionBudget shop\/web/,
      },
      { of: 'update', code: 'PodDisruptionBudget', names: /w1 Draining: .*PodDisruptionBudget shop\/web/ },
      { of: podOf('web'), code: 'PodDisruptionBudget', names: /it is still there: .*0 disruptions allowed/ },
    ],
  },
  {
    name: 'a budget whose other pod finds no node',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 2, minAvailable: 1, pod: onW1 })
      await drains(story, 'PodDisruptionBudget')
    },
    asked: [{ of: 'w1', code: 'PodDisruptionBudget', names: /pod shop\/web-\S+ is Pending on no node/ }],
  },
  {
    name: 'a pod under two budgets',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 2, maxUnavailable: 1, pod: onW1 })
      await story.person.createsBudget('spare', { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } })
      await story.cluster.pass(10_000)
      await drains(story, 'PodUnderTwoBudgets')
    },
    asked: [
      { of: 'w1', code: 'PodUnderTwoBudgets', names: /shop\/(spare|web).*and.*shop\/(spare|web)/ },
      { of: podOf('web'), code: 'PodUnderTwoBudgets', names: /the API server evicts no such pod/ },
    ],
  },
  {
    name: 'a pod that nothing would make again',
    arrange: async (story) => {
      await story.person.createsPod('lonely', 'w1')
      await story.cluster.pass(15_000)
      await drains(story, 'PodUnmanaged')
    },
    asked: [
      { of: 'w1', code: 'PodUnmanaged', names: /shop\/lonely has no controller/ },
      { of: 'update', code: 'PodUnmanaged', names: /shop\/lonely/ },
      { of: 'shop/lonely', code: 'PodUnmanaged', names: /no controller/ },
    ],
  },
  {
    name: 'a pod that keeps data',
    arrange: async (story) => {
      await deploys(story, { name: 'cache', replicas: 1, pod: { ...onW1, volumes: [{ name: 'data', emptyDir: {} }] } })
      await drains(story, 'PodKeepsData', { emptyDir: 'Block' })
    },
    asked: [
      { of: 'w1', code: 'PodKeepsData', names: /shop\/cache-\S+ keeps data in an emptyDir/ },
      { of: 'update', code: 'PodKeepsData', names: /shop\/cache/ },
      { of: podOf('cache'), code: 'PodKeepsData', names: /emptyDir/ },
    ],
  },
  {
    name: 'a pod that may run to its end',
    arrange: async (story) => {
      await deploys(story, { name: 'batch', replicas: 1, pod: onW1 })
      const rules = [{ selector: { matchLabels: { app: 'batch' } }, action: 'WaitForCompletion', timeout: '2h' }]
      await drains(story, 'PodCompleting', { rules, timeout: '3h' })
    },
    asked: [
      { of: 'w1', code: 'PodCompleting', names: /may run to its end, for 2h at most/ },
      { of: podOf('batch'), code: 'PodCompleting', names: /drain rule/ },
    ],
  },
  {
    name: 'a pod that finalizers keep',
    arrange: async (story) => {
      await story.person.createsPod('lonely', 'w1')
      await story.person.changes(pods, 'lonely', { metadata: { finalizers: [keeper] } })
      await story.cluster.pass(15_000)
      await drains(story, 'PodFinalizers', { unmanagedPods: 'Delete' })
    },
    asked: [
      { of: 'w1', code: 'PodFinalizers', names: /shop\/lonely has ended, and is kept by example\.com\/keep/ },
      { of: 'update', code: 'PodFinalizers', names: /shop\/lonely/ },
      { of: 'shop/lonely', code: 'PodFinalizers', names: /example\.com\/keep/ },
    ],
  },
  {
    name: 'a pod on a machine that went away',
    arrange: async (story) => {
      const { cluster, person, update } = story
      await person.createsPod('lonely', 'w1')
      await cluster.pass(15_000)
      update.script('true', { ...w1Only, drain: { unmanagedPods: 'Delete' } })
      await cluster.until('told to go', () => podsOf(cluster, 'w1')[0]?.metadata.deletionTimestamp !== undefined)
      cluster.machine('w1').losePower()
      await cluster.nodeIs('w1', 'Draining', 'PodStuck')
    },
    asked: [
      { of: 'w1', code: 'PodStuck', names: /w1 is not Ready/ },
      { of: 'shop/lonely', code: 'PodStuck', names: /should have gone by/ },
    ],
  },
  {
    name: 'a drain that is late, and still the pod is the cause',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 1, maxUnavailable: 0, pod: onW1 })
      await drains(story, 'DrainTimedOut', { timeout: '2m' })
    },
    asked: [
      { of: 'w1', code: 'PodDisruptionBudget', names: /PodDisruptionBudget shop\/web/ },
      { of: 'update', code: 'DrainTimedOut', names: /PodDisruptionBudget shop\/web/ },
    ],
  },
  {
    name: 'a drain that was given up',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 1, maxUnavailable: 0, pod: onW1 })
      await story.update.script('true', { ...w1Only, drain: { timeout: '2m', onTimeout: 'Abort' } }).fails()
    },
    asked: [{ of: 'w1', code: 'DrainAborted', names: /PodDisruptionBudget shop\/web/ }],
  },
  {
    name: 'pods that are deleted in spite of a budget',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 1, maxUnavailable: 0, pod: onW1 })
      await drains(story, 'PodForced', { timeout: '2m', onTimeout: 'Force' })
    },
    asked: [{ of: 'w1', code: 'PodForced', names: /shop\/web-\S+ is deleted in spite of this/ }],
  },
  {
    name: 'an API server that refuses the eviction',
    arrange: async (story) => {
      await deploys(story, { name: 'web', replicas: 1, pod: onW1 })
      story.faults.refuse('evict', new KubeError('Forbidden', 'admission webhook "guard" denied the request'))
      await drains(story, 'PodEvictionRefused')
    },
    asked: [
      { of: 'w1', code: 'PodEvictionRefused', names: /webhook "guard" denied/ },
      { of: podOf('web'), code: 'PodEvictionRefused', names: /webhook "guard" denied/ },
    ],
  },
  {
    name: 'a node that was taken earlier goes first',
    arrange: async (story) => {
      const { cluster, person, update, faults } = story
      await person.deploys({ name: 'web', replicas: 3, maxUnavailable: 1 })
      await cluster.pass(15_000)
      // For its budget's sake: after any other refusal the next node may try.
      const causes = [{ reason: 'DisruptionBudget' }]
      faults.refuse('evict', new KubeError('TooManyRequests', 'it would violate the budget', { causes }))
      update.script('true', { nodeSelector: workers, strategy: { maxUnavailable: 2 } })
      await cluster.nodeIs('w2', 'Draining', 'PodWaitsItsTurn')
    },
    asked: [{ of: 'w2', code: 'PodWaitsItsTurn', names: /shop\/web: w1 was taken earlier and goes first/ }],
  },
  {
    name: 'a pod on its way out in good time',
    arrange: async (story) => {
      const { cluster, update } = story
      await deploys(story, { name: 'web', replicas: 1, pod: onW1 })
      update.script('true', w1Only)
      await cluster.until('told to go', () => isGoing(cluster))
    },
    asked: [{ of: podOf('web', 'w1'), code: 'PodTerminating', names: /shop\/web/ }],
  },
  {
    name: 'a pod that is about to be told',
    arrange: async (story) => {
      const { cluster, update } = story
      await deploys(story, { name: 'web', replicas: 1, pod: onW1 })
      update.script('true', w1Only)
      await cluster.until('drained', () => cluster.state('w1')?.status?.rollout?.phase === 'Draining')
    },
    asked: [{ of: podOf('web', 'w1'), code: 'PodEvicting', names: /evicting shop\/web/ }],
  },
  {
    name: 'what keeps volumes cannot be listed',
    arrange: async (story) => {
      story.faults.refuse('watch', new KubeError('Forbidden', 'volumeattachments is forbidden'), volumeAttachments)
      await deploys(story, { name: 'web', replicas: 1, pod: onW1 })
      await drains(story, 'PodsUnknown')
    },
    asked: [{ of: 'w1', code: 'PodsUnknown', names: /VolumeAttachments cannot be listed: .*is forbidden/ }],
  },
  {
    name: 'a pod that does not end in its time',
    arrange: async (story) => {
      const { cluster, update } = story
      await deploys(story, { name: 'web', replicas: 1, pod: { ...onW1, terminationGracePeriodSeconds: 1 } })
      update.script('true', w1Only)
      await cluster.until('told to go', () => isGoing(cluster))
      cluster.machine('w1').kubelet?.crash()
      await cluster.nodeIs('w1', 'Draining', 'PodTerminating')
    },
    asked: [
      { of: 'w1', code: 'PodTerminating', names: /shop\/web-\S+/ },
      { of: podOf('web', 'w1'), code: 'PodTerminating', names: /shop\/web-\S+/ },
    ],
  },
  {
    name: 'a pod that is removed from a dead machine',
    arrange: async ({ cluster, person, update }) => {
      await person.createsPod('lonely', 'w1')
      await cluster.pass(15_000)
      update.script('true', { ...w1Only, drain: { timeout: '2m', onTimeout: 'Force', unmanagedPods: 'Delete' } })
      await cluster.until('told to go', () => isGoing(cluster))
      cluster.machine('w1').losePower()
      await cluster.nodeIs('w1', 'Draining', 'PodRemoved')
    },
    asked: [{ of: 'w1', code: 'PodRemoved', names: /shop\/lonely/ }],
  },
  ...(['VolumesAttached', 'VolumesStuck'] as const).map((code) => ({
    name: `a volume: ${code}`,
    arrange: async (story: Story) => {
      await attachVolume(story)
      await drains(story, code, { volumeTimeout: '3m' })
    },
    asked: [{ of: 'w1', code, names: /pv-1/ }],
  })),
]

const isGoing = (cluster: StoryCluster) => podsOf(cluster, 'w1')[0]?.metadata.deletionTimestamp !== undefined

/** A volume that its driver does not let go. */
async function attachVolume({ cluster, person }: Story): Promise<void> {
  await person.deploys({ name: 'web', replicas: 1 })
  const claim = { metadata: { name: 'data', namespace: shop }, spec: { volumeName: 'pv-1' } }
  await person.creates(persistentVolumeClaims, claim)
  const labels = { app: 'db' }
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  const spec = { containers: [{ name: 'main', image: 'pretend' }], volumes, ...onW1 }
  const template = { metadata: { labels }, spec }
  const set = { selector: { matchLabels: labels }, template }
  await person.creates(statefulSets, { metadata: { name: 'db', namespace: shop }, spec: set })
  const name = 'csi-pv-1-w1'
  await cluster.until('it is attached', () => cluster.sim.server.peek(volumeAttachments, { name }) !== undefined)
  await person.changes(volumeAttachments, name, { metadata: { finalizers: [keeper] } })
  await cluster.pass(15_000)
}

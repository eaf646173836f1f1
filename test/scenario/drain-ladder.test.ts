import { describe, expect } from 'vitest'
import { deployments, jobs, nodes, type Pod, pods, statefulSets } from '../../src/api/kube.ts'
import { persistentVolumeClaims, volumeAttachments } from '../../src/api/kube-storage.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { type Person, shop } from './story-person.ts'

const poolA = { nodeSelector: { pool: 'a' } }
const finalizer = 'example.com/keep'

const podsOn = (cluster: StoryCluster, node: string): readonly Pod[] =>
  cluster.sim.podsOn(node).filter(({ metadata }) => metadata.namespace === shop)

/** A workload that cannot lose a pod, one of them on w1. */
async function cannotLoseOne(cluster: StoryCluster, person: Person): Promise<void> {
  await person.labels('w1', { pool: 'a' })
  await person.deploys({ name: 'web', replicas: 2, minAvailable: 2, pod: poolA })
  await cluster.until('web runs on w1', () => podsOn(cluster, 'w1').length === 2)
  await cluster.pass(10_000)
}

describe('a rule', () => {
  scenario('leaves a pod where it is', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    await cluster.pass(10_000)
    await update.script('true', { drain: { rules: [{ namespaces: [shop], action: 'Skip' }] } }).succeeds()
    expect(podsOn(cluster, 'w1').map(({ metadata }) => metadata.name)).toEqual(['lonely'])
  })

  scenario('lets a Job run to its end', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.labels('w1', { pool: 'a' })
    await person.deploys({ name: 'web', replicas: 1 })
    const template = {
      metadata: { labels: { app: 'report' } },
      spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'pretend' }], ...poolA },
    }
    await person.creates(jobs, { metadata: { name: 'report', namespace: shop }, spec: { template } })
    await cluster.until('the Job runs', () => podsOn(cluster, 'w1').some(({ status }) => status?.phase === 'Running'))
    const selector = { matchLabels: { app: 'report' } }
    const drain = { rules: [{ selector, action: 'WaitForCompletion' as const, timeout: '30m' }] }
    const running = update.script('true', { drain })
    const { reason, drain: told } = await cluster.nodeIs('w1', 'Draining', 'PodCompleting')
    expect(reason?.message).toMatch(/shop\/report-\w+ may run to its end, for 30m at most/)
    expect(told?.pods).toMatchObject([{ state: 'Completing', reason: { since: expect.any(String) } }])
    const [first] = told?.pods ?? []
    expect(Date.parse(first?.reason.nextCheck ?? '')).toBe(
      Date.parse(cluster.state('w1')?.status?.rollout?.since ?? '') + 1_800_000,
    )
    await running.succeeds()
    const ended = podsOn(cluster, 'w1').filter(({ metadata }) => metadata.labels?.app === 'report')
    expect(ended.map(({ status }) => status?.phase)).toEqual(['Succeeded'])
  })
})

describe('a pod that holds up a drain', () => {
  scenario(
    'names workload, budget and the very pod that keeps it',
    { nodes: 3 },
    async ({ cluster, update, person }) => {
      await person.labels('w1', { pool: 'a' })
      await person.deploys({ name: 'web', replicas: 2, minAvailable: 1, pod: poolA })
      await cluster.until('web runs on w1', () => podsOn(cluster, 'w1').length === 2)
      await cluster.pass(10_000)
      const running = update.script('true')
      const { reason } = await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
      expect(reason?.message).toMatch(
        /shop\/web-\S+ of Deployment shop\/web waits for PodDisruptionBudget shop\/web .*: pod shop\/web-\S+ is Pending on no node since /,
      )
      await person.labels('w2', { pool: 'a' })
      await running.succeeds()
    },
  )

  scenario('names the finalizer that keeps it', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    await person.changes(pods, 'lonely', { metadata: { finalizers: [finalizer] } })
    await cluster.pass(10_000)
    const running = update.script('true', { drain: { unmanagedPods: 'Delete', timeout: '2m', onTimeout: 'Force' } })
    const { reason } = await cluster.nodeIs('w1', 'Draining', 'PodFinalizers')
    expect(reason?.message).toContain(`shop/lonely has ended, and is kept by ${finalizer}`)
    await cluster.pass(600_000)
    expect(cluster.runs('w1')).toBe(0)
    await person.changes(pods, 'lonely', { metadata: { finalizers: null } })
    await running.succeeds()
  })

  scenario('names its node where nobody confirms its end', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    await cluster.pass(10_000)
    const running = update.script('true', { drain: { rules: [{ action: 'Evict' }] } })
    await cluster.until('it was told to go', () => podsOn(cluster, 'w1')[0]?.metadata.deletionTimestamp !== undefined)
    cluster.machine('w1').losePower()
    const { reason, drain } = await cluster.nodeIs('w1', 'Draining', 'PodStuck')
    expect(reason?.message).toMatch(/shop\/lonely should have gone by .*, but w1 is not Ready/)
    expect(drain?.pods).toMatchObject([{ state: 'Terminating' }])
    cluster.machine('w1').powerOn()
    await running.succeeds()
  })
})

describe('force', () => {
  scenario('is never used where nothing says so', { nodes: 3 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    update.script('true', { drain: { timeout: '2m' } })
    await cluster.nodeIs('w1', 'Draining', 'DrainTimedOut')
    await cluster.pass(3_600_000)
    expect(podsOn(cluster, 'w1')).toHaveLength(2)
    expect(cluster.told('Node', 'w1')).not.toContain('PodForced')
  })

  scenario(
    'after the drain’s time is told pod by pod, then done',
    { nodes: 3 },
    async ({ cluster, update, person }) => {
      await cannotLoseOne(cluster, person)
      const running = update.script('true', { drain: { timeout: '2m', onTimeout: 'Force' } })
      const { drain } = await cluster.nodeIs('w1', 'Draining', 'PodForced')
      expect(drain?.pods).toMatchObject([{ state: 'Forced' }, { state: 'Forced' }])
      expect(podsOn(cluster, 'w1')).toHaveLength(2)
      await running.succeeds()
      expect(cluster.told('Node', 'w1').filter((reason) => reason === 'PodForced')).toHaveLength(2)
    },
  )

  scenario('by a rule is for its pods only', { nodes: 3 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    await person.createsPod('lonely', 'w1')
    const selector = { matchLabels: { app: 'web' } }
    const drain = { rules: [{ selector, action: 'Force' as const, timeout: '1m' }] }
    const running = update.script('true', { drain })
    await cluster.nodeIs('w1', 'Draining', 'PodUnmanaged')
    await cluster.until('web is gone', () => podsOn(cluster, 'w1').length === 1, 300_000)
    expect(cluster.told('Node', 'w1').filter((reason) => reason === 'PodForced')).toHaveLength(2)
    await person.deletes(pods, { name: 'lonely', namespace: shop })
    await running.succeeds()
  })

  scenario('removes what a dead node does not let go', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.createsPod('lonely', 'w1')
    await cluster.pass(10_000)
    const drain = { timeout: '2m', onTimeout: 'Force' as const, unmanagedPods: 'Delete' as const }
    const running = update.script('true', { drain })
    await cluster.until('it was told to go', () => podsOn(cluster, 'w1')[0]?.metadata.deletionTimestamp !== undefined)
    cluster.machine('w1').losePower()
    await cluster.until('it is gone', () => podsOn(cluster, 'w1').length === 0, 300_000)
    await cluster.until('it is told', () => cluster.told('Node', 'w1').includes('PodRemoved'))
    cluster.machine('w1').powerOn()
    await running.succeeds()
  })
})

describe('volumes', () => {
  scenario('are waited for until they are detached', { nodes: 3 }, async ({ cluster, update, person }) => {
    await person.labels('w1', { pool: 'a' })
    await person.deploys({ name: 'web', replicas: 1 })
    await person.creates(persistentVolumeClaims, {
      metadata: { name: 'data', namespace: shop },
      spec: { volumeName: 'pv-1' },
    })
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
    const labels = { app: 'db' }
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'pretend' }], volumes, ...poolA },
    }
    await person.creates(statefulSets, {
      metadata: { name: 'db', namespace: shop },
      spec: { selector: { matchLabels: labels }, template },
    })
    const attachment = () => cluster.sim.server.peek(volumeAttachments, { name: 'csi-pv-1-w1' })
    await cluster.until('the volume is attached', () => attachment() !== undefined)
    // As the attacher of a CSI driver does, which takes it off when the storage has let go.
    await person.changes(volumeAttachments, 'csi-pv-1-w1', { metadata: { finalizers: [finalizer] } })
    await cluster.pass(10_000)
    const running = update.script('true', { drain: { volumeTimeout: '3m' } })
    const { reason } = await cluster.nodeIs('w1', 'Draining', 'VolumesAttached')
    expect(reason?.message).toBe('volume pv-1 is still attached to w1 (VolumeAttachment csi-pv-1-w1)')
    const stuck = await cluster.nodeIs('w1', 'Draining', 'VolumesStuck')
    expect(stuck.reason?.since).toBe(reason?.since)
    await cluster.pass(600_000)
    expect(cluster.runs('w1')).toBe(0)
    await person.changes(volumeAttachments, 'csi-pv-1-w1', { metadata: { finalizers: null } })
    await person.labels('w2', { pool: 'a' })
    await running.succeeds()
  })
})

describe('an abort', () => {
  const drain = { timeout: '2m', onTimeout: 'Abort' as const }

  scenario('puts the node back as it was, and the update ends', { nodes: 3 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    const running = update.script('true', { drain })
    await running.fails()
    expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed', reason: { code: 'DrainAborted' } })
    expect(cluster.state('w1')?.status?.rollout?.reason?.message).toContain('PodDisruptionBudget shop/web')
    await cluster.until('all is put back', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
    expect(cluster.isCordoned('w1')).toBe(false)
    expect(podsOn(cluster, 'w1')).toHaveLength(2)
    await cluster.until('it is told', () => cluster.told('Node', 'w1').includes('DrainAborted'))
    await running.isDeleted()
    await running.isGone()
    await cluster.until('no mark is left', () => cluster.state('w1')?.status?.rollout === undefined)
  })

  scenario('is tried again when a person says so', { nodes: 3 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    const failed = await update.script('true', { drain }).fails()
    await person.changes(deployments, 'web', { spec: { replicas: 3 } })
    await person.labels('w2', { pool: 'a' })
    await cluster.pass(60_000)
    expect(cluster.isCordoned('w1')).toBe(false)
    await failed.isEdited({ retry: { token: '1' } })
    await failed.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  scenario('lets the update go on where it may lose a node', { nodes: 4 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    const running = update.script('true', { drain, strategy: { maxFailures: 1 } })
    await running.fails()
    expect(cluster.allRuns).toMatchObject({ w1: 0, w2: 1, w3: 1 })
    await cluster.pass(600_000)
    expect(cluster.state('w1')?.status?.rollout).toMatchObject({ phase: 'Failed' })
    expect(cluster.isCordoned('w1')).toBe(false)
  })

  scenario('survives a crash of the operator', { nodes: 3, operators: 2 }, async ({ cluster, update, person }) => {
    await cannotLoseOne(cluster, person)
    const running = update.script('true', { drain })
    await cluster.nodeIs('w1', 'Failed', 'DrainAborted')
    for (const program of cluster.sim.programs()) program.crash()
    await running.fails()
    await cluster.until('nothing is left', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('two drains and one budget', () => {
  // Each worker has room for four pods, and w3 for all of one other node: the pods of both at once have nowhere to go.
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    scenario(
      `one node after the other, seed ${seed}`,
      { nodes: 4, podCapacity: 4, podStartMs: [18_000, 25_000], seed },
      async ({ cluster, update, person }) => {
        await person.cordons('w3')
        await person.deploys({ name: 'web', replicas: 8, maxUnavailable: 1 })
        await cluster.until('web runs', () => podsOn(cluster, 'w1').length + podsOn(cluster, 'w2').length === 8)
        await person.changes(nodes, 'w3', { spec: { unschedulable: null } })
        await cluster.pass(60_000)
        const running = update.script('true', { strategy: { maxUnavailable: 2 } })
        await cluster.until('both are taken', () => cluster.taken.includes('w1') && cluster.taken.includes('w2'))
        await running.succeeds()
      },
    )
  }
})

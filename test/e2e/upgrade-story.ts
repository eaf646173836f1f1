// One DirectUpdate takes a whole cluster to the next minor, while a service on it goes on answering.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DirectUpdate } from '../../src/api/direct-update.ts'
import { type Bed, openBed } from '../bed/bed.ts'
import { type ClusterOptions, type KubeadmCluster, raiseCluster } from '../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../bed/kubeadm-config.ts'
import { debVersion, minorPath } from '../bed/kubernetes-packages.ts'
import { kubernetesVersion } from '../bed/versions.ts'
import { webWorkload } from '../bed/web-workload.ts'
import { commitOfTree, keepResult, today } from '../proof/kept-results.ts'
import { type QuorumWatch, watchQuorum } from './quorum-watch.ts'
import { SlipwayInCluster } from './slipway-in-cluster.ts'
import { startSteadyClient } from './steady-client.ts'

/** In dpkg’s own language. */
const packageLine = ['$', '{Package} ', '$', '{Version}', '\n'].join('')
const webPort = 30_080
const replicas = 2
const upgradeMs = 25 * 60_000

/** The control planes that led etcd while their own member was being replaced; each hands over first. */
async function ledWhileStopped(
  slipway: SlipwayInCluster,
  { controlPlanes }: KubeadmCluster,
  { leaders }: QuorumWatch,
): Promise<readonly string[]> {
  const found: string[] = []
  let handedOver = 0
  for (const { name } of controlPlanes) {
    const steps = (await slipway.state(name)).status?.agent?.order?.steps ?? []
    const step = (wanted: string) => steps.find((each) => each.name === wanted)
    expect(step('move-etcd-leader')).toMatchObject({ state: 'Succeeded' })
    handedOver += step('move-etcd-leader')?.attempts ?? 0
    const { startedAt = '', finishedAt = '' } = step('upgrade-control-plane') ?? {}
    const [from, to] = [Date.parse(startedAt), Date.parse(finishedAt)]
    if (leaders.some((seen) => seen.name === name && seen.atMs > from && seen.atMs < to)) found.push(name)
  }
  expect(handedOver).toBeGreaterThan(0)
  return found
}

export interface Course {
  /** Brings Slipway onto the cluster. */
  install(cluster: KubeadmCluster): Promise<SlipwayInCluster>
  /** Takes it to the new version, to the end of the update named to-1-36. */
  upgrade(slipway: SlipwayInCluster): Promise<DirectUpdate>
  /** Further tests on the same cluster. */
  afterwards(stage: () => SlipwayInCluster): void
}

/** By the chart, and by a resource. */
export const usualCourse: Course = {
  install: (cluster) => SlipwayInCluster.install(cluster),
  upgrade: (slipway) =>
    slipway.update(
      'to-1-36',
      {
        kubernetes: {
          version: kubernetesVersion,
          kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') },
        },
      },
      upgradeMs,
    ),
  afterwards: () => {},
}

export function describeUpgrade(size: ClusterOptions, course = usualCourse): void {
  describe(`one DirectUpdate takes ${size.controlPlanes} control planes and ${size.workers} workers to the next minor`, () => {
    let bed: Bed
    let cluster: KubeadmCluster
    let slipway: SlipwayInCluster

    beforeAll(async () => {
      bed = await openBed()
      cluster = await raiseCluster(bed, size)
      slipway = await course.install(cluster)
    })

    afterAll(async () => {
      await bed.close()
      expect(bed.leftovers()).toEqual([])
    })

    test('with a workload that never stops answering', { timeout: upgradeMs + 120_000 }, async () => {
      const [first] = cluster.nodes
      const url = `http://${first?.address}:${webPort}/`
      await cluster.kubectl(
        ['apply', '-f', '-'],
        webWorkload({
          name: 'web',
          replicas,
          nodePort: webPort,
          drainSeconds: 15,
          maxUnavailable: 1,
          onControlPlanes: size.workers < 2,
        }),
      )
      await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=60s'])
      await expect
        .poll(
          () =>
            fetch(url).then(
              (answer) => answer.ok,
              () => false,
            ),
          { timeout: 60_000 },
        )
        .toBe(true)
      const commit = commitOfTree()
      const startedMs = performance.now()
      const client = startSteadyClient(url)
      const quorum = watchQuorum(cluster)

      const update = await course.upgrade(slipway)
      await Promise.all([client.stop(), quorum.stop()])

      if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
      const several = size.controlPlanes > 1
      keepResult(several ? 'requests-ha' : 'requests', {
        ...{ date: today(), commit, command: several ? 'make e2e-full' : 'make e2e', replicas },
        ...{ controlPlanes: size.controlPlanes, workers: size.workers },
        ...{ requests: client.answers + client.failures.length, failed: client.failures.length },
        seconds: Math.round((performance.now() - startedMs) / 1000),
      })
      expect(client.failures).toEqual([])
      expect(client.answers).toBeGreaterThan(100)
      // With one member there is no quorum to keep while it is upgraded.
      if (size.controlPlanes < 3) {
        expect(update.status.warnings).toMatchObject([{ code: 'ControlPlaneAway' }])
        return
      }
      expect(quorum.lost).toEqual([])
      expect(await ledWhileStopped(slipway, cluster, quorum)).toEqual([])
    })

    test('every node runs the new version, takes pods again, and has nothing of ours on it', async () => {
      expect(await cluster.nodeStatuses()).toEqual(
        cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
      )
      const nodes = JSON.parse(await cluster.kubectl(['get', 'nodes', '-o', 'json'])) as {
        items: { metadata: { annotations?: Record<string, string> }; spec: { unschedulable?: boolean } }[]
      }
      for (const { metadata, spec } of nodes.items) {
        expect(spec.unschedulable).toBeUndefined()
        expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith('slipway.dev/'))).toEqual([])
      }
      const policy = await cluster.kubectl(['get', 'maintenancepolicies.slipway.dev', 'default', '-o', 'json'])
      expect(JSON.parse(policy)).toMatchObject({ status: { ledger: { grants: [] } } })
    })

    test('packages are whole, held as before, and come from the new minor’s repository', async () => {
      for (const node of cluster.nodes) {
        expect(await node.run(['dpkg', '--audit'])).toBe('')
        expect((await node.run(['apt-mark', 'showhold'])).trim().split('\n')).toEqual(['kubeadm', 'kubectl', 'kubelet'])
        expect(await node.run(['dpkg-query', '-W', '-f', packageLine, 'kubelet', 'kubeadm', 'kubectl'])).toBe(
          ['kubeadm', 'kubectl', 'kubelet'].map((name) => `${name} ${debVersion(kubernetesVersion)}\n`).join(''),
        )
        expect(await node.readFile('/etc/apt/sources.list.d/kubernetes.list')).toContain(minorPath(kubernetesVersion))
      }
    })

    test('the same again changes nothing', async () => {
      const update = await slipway.update('again', { kubernetes: { version: kubernetesVersion } }, 60_000)
      expect(update.status).toMatchObject({ phase: 'Succeeded', summary: { skipped: cluster.nodes.length } })
    })

    course.afterwards(() => slipway)
  })
}

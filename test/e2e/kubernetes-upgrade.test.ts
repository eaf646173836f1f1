import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bed, openBed } from '../bed/bed.ts'
import { type KubeadmCluster, raiseCluster } from '../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../bed/kubeadm-config.ts'
import { debVersion, minorPath } from '../bed/kubernetes-packages.ts'
import { kubernetesVersion } from '../bed/versions.ts'
import { webWorkload } from '../bed/web-workload.ts'
import { SlipwayInCluster } from './slipway-in-cluster.ts'
import { startSteadyClient } from './steady-client.ts'

/** In dpkg’s own language. */
const packageLine = ['$', '{Package} ', '$', '{Version}', '\n'].join('')
const webPort = 30_080
const upgradeMs = 15 * 60_000

describe('one DirectUpdate takes a kubeadm cluster of one control plane and two workers to the next minor', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 2 })
    slipway = await SlipwayInCluster.install(cluster)
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
      webWorkload({ name: 'web', replicas: 2, nodePort: webPort, maxUnavailable: 1 }),
    )
    await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=60s'])
    await expect
      .poll(
        () =>
          fetch(url).then(
            (answer) => answer.ok,
            () => false,
          ),
        { timeout: 30_000 },
      )
      .toBe(true)
    const client = startSteadyClient(url)

    const update = await slipway.update(
      'to-1-36',
      {
        kubernetes: {
          version: kubernetesVersion,
          kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') },
        },
      },
      upgradeMs,
    )
    await client.stop()

    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(client.failures).toEqual([])
    expect(client.answers).toBeGreaterThan(100)
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
    expect(update.status).toMatchObject({ phase: 'Succeeded', summary: { skipped: 3 } })
  })
})

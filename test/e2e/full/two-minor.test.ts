// One DirectUpdate takes a cluster over two minor versions: the control plane through each, with a backup that was proven by a
// restore before each of them, the worker straight to the last.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { directUpdates } from '../../../src/api/direct-update.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../../bed/kubeadm-config.ts'
import { debVersion, minorPath } from '../../bed/kubernetes-packages.ts'
import { kubernetesVersion, olderKubernetesVersion, oldestKubernetesVersion } from '../../bed/versions.ts'
import { SlipwayInCluster } from '../slipway-in-cluster.ts'

const folder = '/var/lib/slipway/backups'
const upgradeMs = 30 * 60_000
const minor = /^v(\d+\.\d+)\./.exec(kubernetesVersion)?.[1] ?? ''

describe('one DirectUpdate over two minor versions', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 1, release: oldestKubernetesVersion })
    slipway = await SlipwayInCluster.install(cluster)
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('finds its path, and goes it', { timeout: upgradeMs + 120_000 }, async () => {
    // The hosts' repository is that of their own minor version; of the others a person tells.
    await cluster.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: { name: 'slipway-versions', namespace: 'slipway-system' },
        data: { versions: `${olderKubernetesVersion}\n${kubernetesVersion}\n` },
      }),
    )
    await cluster.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Secret' },
        metadata: { name: 'backup-key', namespace: 'slipway-system' },
        stringData: { key: randomBytes(32).toString('base64') },
      }),
    )
    const store = { name: 'here', path: folder, encryption: { method: 'Aes256Gcm', secret: 'backup-key' } }
    const patch = JSON.stringify({ spec: { backupStores: [store] } })
    await cluster.kubectl(['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge', '-p', patch])
    const update = await slipway.update(
      'two-minors',
      {
        kubernetes: { version: `${minor}.*`, kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') } },
        // The machines of the bed share their host's kernel, whatever cgroups that has.
        preflight: { skip: ['TargetRequirements'] },
        backup: { etcd: 'Required', verify: 'Restore' },
      },
      upgradeMs,
    )
    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(update.status.path).toEqual({
      ...{ current: oldestKubernetesVersion, target: kubernetesVersion, step: 1, workers: [1], source: 'ConfigMap' },
      steps: [olderKubernetesVersion, kubernetesVersion],
    })
    expect(await cluster.nodeStatuses()).toEqual(
      cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
    )
  })

  test('a backup was proven by a restore before each step, and lies encrypted on the host', async () => {
    const { status } = await slipway.get(directUpdates, 'two-minors')
    expect(status?.backups).toMatchObject(
      [olderKubernetesVersion, kubernetesVersion].map((version) => ({
        ...{ step: `ControlPlane ${version}`, store: 'here', verified: 'Restore' },
        location: expect.stringContaining(folder),
      })),
    )
    const [first] = cluster.controlPlanes
    const kept = (await first?.run(['ls', folder]))?.trim().split('\n') ?? []
    expect(kept.filter((name) => name.endsWith('.json'))).toHaveLength(2)
    for (const { location, sha256 } of status?.backups ?? []) {
      expect(await first?.run(['sha256sum', location])).toContain(sha256)
    }
  })

  test('each step was an operation of its own, and the worker was taken once', async () => {
    const [first, second] = await Promise.all(cluster.nodes.map(({ name }) => slipway.state(name)))
    expect(first?.status?.rollout).toMatchObject({ phase: 'Done', operationID: expect.stringMatching(/\.2$/) })
    expect(first?.status?.completed).toEqual([expect.stringMatching(/\.1$/)])
    expect(second?.status?.rollout).toMatchObject({ phase: 'Done', operationID: expect.stringMatching(/\.2$/) })
    expect(second?.status?.completed ?? []).toEqual([])
  })

  test('packages are whole, held as before, and come from the last minor’s repository', async () => {
    for (const node of cluster.nodes) {
      expect(await node.run(['dpkg', '--audit'])).toBe('')
      expect((await node.run(['apt-mark', 'showhold'])).trim().split('\n')).toEqual(['kubeadm', 'kubectl', 'kubelet'])
      const versions = await node.run(['apt-cache', 'policy', 'kubelet'])
      expect(versions).toContain(`Installed: ${debVersion(kubernetesVersion)}`)
      expect(await node.readFile('/etc/apt/sources.list.d/kubernetes.list')).toContain(minorPath(kubernetesVersion))
    }
  })
})

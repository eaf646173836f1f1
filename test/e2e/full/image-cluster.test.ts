// A cluster of image hosts, made by kubeadm with real kubelets: one update brings the next image and the next minor of Kubernetes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodes } from '../../../src/api/kube.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../../bed/kubeadm-config.ts'
import { imageNodes, makeNodeImage } from '../../bed/osimage/node-image.ts'
import { type Registry, startRegistry } from '../../bed/osimage/registry.ts'
import { kubernetesVersion, olderKubernetesVersion } from '../../bed/versions.ts'
import { toolFiles } from '../../conformance/image-case.ts'
import { SlipwayInCluster } from '../slipway-in-cluster.ts'

const updateMs = 20 * 60_000

describe.each(['rpm-ostree', 'bootc'] as const)('a cluster of image hosts with %s', (engine) => {
  let bed: Bed
  let registry: Registry
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster
  const files = toolFiles(engine)

  beforeAll(async () => {
    bed = await openBed()
    registry = await startRegistry(bed)
    bed.atClose(() => registry.stop())
    const image = await makeNodeImage(registry, { version: '5.0', release: olderKubernetesVersion, files })
    cluster = await raiseCluster(bed, {
      controlPlanes: 1,
      workers: 1,
      makeNode: await imageNodes(bed, registry, image),
    })
    slipway = await SlipwayInCluster.install(cluster)
    const registries = JSON.stringify({ spec: { registries: [{ host: registry.address, plain: true }] } })
    await cluster.kubectl(['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge', '-p', registries])
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('takes its next image and the next minor of Kubernetes in one drain', {
    timeout: updateMs + 60_000,
  }, async () => {
    const { digest, reference } = await makeNodeImage(registry, { version: '6.0', release: kubernetesVersion, files })
    const kubeadm = { ignorePreflightErrors: ignoredChecks.split(',') }
    const update = await slipway.update(
      'image-and-kubernetes',
      { os: { image: reference }, kubernetes: { version: kubernetesVersion, kubeadm } },
      updateMs,
    )
    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(update.status.osImage).toMatchObject({ digest })
    expect(await cluster.nodeStatuses()).toEqual(
      cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
    )
    for (const { name } of cluster.nodes) {
      const { spec, status } = await slipway.get(nodes, name)
      expect(spec.unschedulable).toBeUndefined()
      expect(status?.nodeInfo).toMatchObject({ osImage: 'BedOS 6.0' })
      const steps = (await slipway.state(name)).status?.agent?.order?.steps ?? []
      const step = (wanted: string) => steps.find((each) => each.name === wanted)
      expect(step('boot-image')).toMatchObject({ state: 'Succeeded', attempts: 1 })
      const kubeadm = step('upgrade-control-plane') ?? step('upgrade-node')
      const [upgraded, booted] = [kubeadm?.finishedAt ?? '', step('boot-image')?.startedAt ?? '']
      expect(Date.parse(upgraded)).toBeLessThan(Date.parse(booted))
    }
  })

  test('refuses an image with another kubelet than the update names before any node is drained', {
    timeout: 180_000,
  }, async () => {
    const { reference } = await makeNodeImage(registry, { version: '7.0', release: olderKubernetesVersion, files })
    const spec = { os: { image: reference }, kubernetes: { version: kubernetesVersion } }
    const { status } = await slipway.update('other-kubelet', spec, 150_000)
    expect(status?.phase).toBe('Failed')
    expect(JSON.stringify(status?.nodes)).toContain('ImageKubernetesOther')
    for (const { name } of cluster.nodes) {
      expect((await slipway.get(nodes, name)).spec.unschedulable).toBeUndefined()
    }
    const orders = (await slipway.states()).map((state) => state.status?.agent?.order)
    const refused = orders.filter((order) => order?.id.startsWith('other-kubelet/'))
    expect(refused).not.toEqual([])
    for (const order of refused) expect(order?.steps.every(({ attempts }) => attempts === 0)).toBe(true)
  })

  // The tools differ in nothing that this looks at.
  if (engine === 'bootc') return

  test('leaves an image again whose node has no network, though its kubelet runs', { timeout: 900_000 }, async () => {
    const worker = cluster.workers[0]?.name ?? ''
    const { reference } = await makeNodeImage(registry, {
      version: '8.0',
      release: kubernetesVersion,
      files: { ...files, 'usr/lib/tmpfiles.d/no-network.conf': 'R! /etc/cni/net.d\n' },
    })
    const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': worker } }
    const { status } = await slipway.update('no-network', { os: { image: reference }, nodeSelector }, 840_000)
    expect(status?.phase).toBe('Failed')
    const order = (await slipway.state(worker)).status?.agent?.order
    expect(order).toMatchObject({ state: 'Failed', rolledBack: true, reason: { code: 'ImageUnhealthy' } })
    expect(order?.reason?.message).toContain('NetworkReady')
    expect((await slipway.get(nodes, worker)).status?.nodeInfo).toMatchObject({ osImage: 'BedOS 6.0' })
  })
})

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { realClient } from '../../apiserver/real-client.ts'
import { baseRoot } from '../../bed/base-root.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { writeImageArchive } from '../../bed/container-image.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { kubernetesRepository, minorPath } from '../../bed/kubernetes-packages.ts'
import { copyRepository } from '../../bed/package-repository.ts'
import { kubernetesVersion, olderKubernetesVersion } from '../../bed/versions.ts'
import { webWorkload } from '../../bed/web-workload.ts'

describe('a cluster made by kubeadm', () => {
  let bed: Bed
  let cluster: KubeadmCluster

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 2 })
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('is Ready on all nodes at the older release', async () => {
    expect(await cluster.nodeStatuses()).toEqual(
      ['node1', 'node2', 'node3'].map((name) => ({ name, isReady: true, kubeletVersion: olderKubernetesVersion })),
    )
  })

  test('answers our own client', async () => {
    const { api } = await realClient(cluster.kubeconfigPath)
    const nodes = await api.list(
      { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
      {},
      AbortSignal.timeout(10_000),
    )
    expect(nodes.items.map(({ metadata }) => metadata.name)).toEqual(['node1', 'node2', 'node3'])
  })

  test('serves a web workload from every node to every node', async () => {
    await cluster.kubectl(
      ['apply', '-f', '-'],
      webWorkload({ name: 'web', replicas: 2, nodePort: 30080, maxUnavailable: 1 }),
    )
    await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=120s'])
    const spots = await cluster.kubectl(['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].spec.nodeName}'])
    expect(spots.split(' ').sort()).toEqual(['node2', 'node3'])
    for (const node of cluster.nodes) {
      const answers = async () =>
        (await fetch(`http://${node.address}:30080/`, { signal: AbortSignal.timeout(2_000) })).text()
      await expect.poll(answers, { timeout: 60_000 }).toBe('ok\n')
    }
    const addresses = await cluster.kubectl(['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].status.podIP}'])
    for (const address of addresses.split(' ')) {
      for (const node of cluster.nodes) {
        expect(await node.run(['curl', '-s', '--max-time', '5', `http://${address}/`])).toBe('ok\n')
      }
    }
  })

  test('has the packages of both minors on offer, each in its own repository', async () => {
    const [, , worker] = cluster.nodes
    const offered = await worker?.run(['apt-cache', 'madison', 'kubelet'])
    expect(offered).toContain(`${olderKubernetesVersion.slice(1)}-1.1`)
    expect(offered).not.toContain(`${kubernetesVersion.slice(1)}-1.1`)
    await worker?.run(['sed', '-i', 's#/v1.35/#/v1.36/#', '/etc/apt/sources.list.d/kubernetes.list'])
    await worker?.run(['apt-get', 'update', '-qq'])
    expect(await worker?.run(['apt-cache', 'madison', 'kubelet'])).toContain(`${kubernetesVersion.slice(1)}-1.1`)
    expect(await worker?.run(['apt-mark', 'showhold'])).toBe('kubeadm\nkubectl\nkubelet\n')
  })

  test('refuses the next minor from a repository signed by a stranger', async () => {
    const [, , worker] = cluster.nodes
    const path = minorPath(kubernetesVersion)
    const folder = join(bed.slot.folder, 'stranger')
    await copyRepository(await kubernetesRepository(kubernetesVersion), folder, { signedBy: 'stranger' })
    const url = bed.repositories.serve(`stranger/${path}`, folder)
    const list = `deb [signed-by=/etc/apt/keyrings/kubernetes.gpg] ${url}/ /\n`
    await worker?.writeFile('/etc/apt/sources.list.d/stranger.list', list)
    const execution = await worker?.exec(['apt-get', 'update', '--error-on=any'])
    expect(execution?.stderr).toContain('NO_PUBKEY')
    expect(execution?.code).toBe(100)
    await worker?.run(['rm', '/etc/apt/sources.list.d/stranger.list'])
  })

  test('runs an image that was imported into its nodes', async () => {
    const root = join(bed.slot.folder, 'image-root')
    await mkdir(join(root, 'bin'), { recursive: true })
    await copyFile(join(await baseRoot(), 'bin/busybox'), join(root, 'bin/busybox'))
    const archive = join(bed.slot.folder, 'greeting.tar')
    const entrypoint = ['/bin/busybox', 'echo', 'imported']
    await writeImageArchive({ name: 'registry.bed/greeting:1', root, entrypoint }, archive)
    await cluster.importImage(archive)
    const run = ['run', 'greeting', '--image=registry.bed/greeting:1', '--restart=Never', '--image-pull-policy=Never']
    await cluster.kubectl(run)
    await cluster.kubectl(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/greeting', '--timeout=60s'])
    expect(await cluster.kubectl(['logs', 'greeting'])).toBe('imported\n')
  })

  test('tells how its etcd is', async () => {
    const { code, stderr } = await cluster.etcdctl(['endpoint', 'health'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('takes a worker back after a reboot and after a power loss', async () => {
    const [, worker] = cluster.nodes
    const isReady = async () => (await cluster.nodeStatuses()).find(({ name }) => name === 'node2')?.isReady
    const startedAt = () => cluster.kubectl(['get', 'node', 'node2', '-o', 'jsonpath={.status.nodeInfo.bootID}'])
    const before = await startedAt()
    await worker?.reboot()
    await expect.poll(startedAt, { timeout: 120_000, interval: 500 }).not.toBe(before)
    await expect.poll(isReady, { timeout: 120_000, interval: 500 }).toBe(true)
    await worker?.powerLoss()
    await expect.poll(isReady, { timeout: 120_000, interval: 500 }).toBe(false)
    await worker?.boot()
    await expect.poll(isReady, { timeout: 120_000, interval: 500 }).toBe(true)
  })
})

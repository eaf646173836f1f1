// A whole cluster goes to the next minor from a bundle alone: no repository is asked, and no host has an image of it before.

import { copyFile, cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FileBundles } from '../../../src/adapters/bundle/file-bundles.ts'
import { baseRoot } from '../../bed/base-root.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { debArchitecture } from '../../bed/deb-package.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../../bed/kubeadm-config.ts'
import { writeImages } from '../../bed/kubernetes-images.ts'
import { kubernetesRepository } from '../../bed/kubernetes-packages.ts'
import type { Machine } from '../../bed/machine.ts'
import { kubernetesVersion } from '../../bed/versions.ts'
import { SlipwayInCluster } from '../slipway-in-cluster.ts'

const updateMs = 20 * 60_000
const signal = new AbortController().signal
const images = (machine: Machine) => machine.run(['ctr', '-n', 'k8s.io', 'images', 'ls', '-q'])

describe('a cluster that reaches nobody', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster
  let sha256: string

  /** With the packages and the images of the release, and nothing else. */
  async function makeBundle(): Promise<string> {
    const folder = join(bed.slot.folder, 'bundle')
    const [debs, archives] = [join(folder, 'packages/deb'), join(folder, 'images')]
    for (const each of [debs, archives]) await mkdir(each, { recursive: true })
    const repository = join(await kubernetesRepository(kubernetesVersion), debArchitecture)
    for (const name of await readdir(repository)) await cp(join(repository, name), join(debs, name))
    const written = join(bed.slot.folder, 'images')
    await mkdir(written)
    for (const file of await writeImages({ folder: written, base: await baseRoot() }, [kubernetesVersion])) {
      await cp(file, join(archives, file.slice(written.length + 1)))
    }
    await rm(written, { recursive: true })
    const output = `${folder}.tar`
    sha256 = (await new FileBundles().create({ folder, output, architecture: debArchitecture }, signal)).sha256
    return output
  }

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 1 })
    slipway = await SlipwayInCluster.install(cluster)
    const bundle = await makeBundle()
    for (const node of cluster.nodes) {
      const newer = (await images(node)).split('\n').filter((name) => name.endsWith(`:${kubernetesVersion}`))
      await node.run(['ctr', '-n', 'k8s.io', 'images', 'rm', '--sync', ...newer])
      await copyFile(bundle, `/proc/${node.initPid()}/root/srv/bundle.tar`)
    }
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('goes to the next minor from its bundle', { timeout: updateMs + 60_000 }, async () => {
    for (const node of cluster.nodes) expect(await images(node)).not.toContain(kubernetesVersion)
    const asked = bed.repositories.requests.length
    const kubeadm = { ignorePreflightErrors: ignoredChecks.split(',') }
    const bundle = { url: '/srv/bundle.tar', sha256 }
    const update = await slipway.update(
      'from-bundle',
      { kubernetes: { version: kubernetesVersion, kubeadm }, airGapped: { bundle } },
      updateMs,
    )
    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(await cluster.nodeStatuses()).toEqual(
      cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
    )
    expect(bed.repositories.requests.slice(asked)).toEqual([])
    for (const node of cluster.nodes) {
      expect(await images(node)).toContain(`kube-proxy:${kubernetesVersion}`)
      expect(await node.run(['dpkg', '--audit'])).toBe('')
    }
  })
})

// The control plane's new images are on the disk before the node is drained: kubeadm would pull them only while the API is
// about to go away.

import { imageListSchema } from '../../../api/kubernetes-output.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { missingImages } from '../../../core/kubernetes/image-references.ts'
import { atVersion } from '../../../core/kubernetes/kubeadm-upgrade.ts'
import type { Staging } from '../driver.ts'
import { answerOf, jsonAnswerOf } from '../host-answer.ts'
import { stagedComponent } from '../kubernetes-packages.ts'
import { targetVersion } from '../kubernetes-target.ts'
import { findImageStore, type ImageStore } from '../runtime/image-store.ts'
import { loadImage } from '../runtime/load-image.ts'
import { readClusterConfiguration } from './cluster-record.ts'

/** As a shell says it. */
const cannotBeRun = 126
/** $1 package file, $2 folder it is unpacked into. */
const unpackRpm = 'cd "$2" && rpm2cpio "$1" | cpio -idm --quiet'

/** `kubeadm`: that of the target version, where it lies already; out of its staged package if not said. */
export async function stageControlPlaneImages(
  staging: Staging,
  signal: AbortSignal,
  kubeadm?: string,
): Promise<Reason | undefined> {
  try {
    return await stageImages(staging, signal, kubeadm)
  } catch (error) {
    if (signal.aborted || !(error instanceof SlipwayError)) throw error
    throw new SlipwayError('StagingFailed', error.message, { cause: error })
  }
}

async function stageImages(staging: Staging, signal: AbortSignal, kubeadm?: string): Promise<Reason | undefined> {
  const { host, order } = staging
  const store = await findImageStore(host, signal)
  if (!store) {
    await staging.warn(
      'the images of the new control plane were not fetched ahead: neither crictl nor ctr is on this host',
    )
    return undefined
  }
  const program = kubeadm ?? (await stagedKubeadm(staging, signal))
  if ((await host.run({ argv: [program, 'version'] }, signal)).exitCode === cannotBeRun) {
    await staging.warn(
      `the images of the new control plane were not fetched ahead: nothing may be run below ${staging.stagingFolder} (mounted noexec?)`,
    )
    return undefined
  }
  const wanted = await imagesOfTarget(staging, program, signal)
  const missing = missingImages(wanted, await store.list(signal))
  if (missing.length === 0) return undefined
  return order.work.bundle
    ? await importBundled(missing, store, staging, signal)
    : await pullAll(missing, store, staging, signal)
}

async function pullAll(
  images: readonly string[],
  store: ImageStore,
  staging: Staging,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  for (const image of images) {
    const outcome = await store.pull(staging, image, signal)
    if (outcome.pulled) continue
    if (outcome.because === 'DiskTooFull') return { code: 'DiskTooFull', message: outcome.message }
    if (outcome.because === 'ImageMissing') return { code: 'ImageMissing', message: outcome.message }
    throw new SlipwayError('StagingFailed', outcome.message)
  }
  return undefined
}

/** Air-gapped: what the bundle does not hold cannot be had. */
async function importBundled(
  images: readonly string[],
  store: ImageStore,
  staging: Staging,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  const { host, stagingFolder } = staging
  const folder = `${stagingFolder}/bundle/images`
  for (const name of await host.files.names(folder)) {
    const reason = await loadImage(staging, `${folder}/${name}`, signal)
    if (reason) return reason
  }
  const missing = missingImages(images, await store.list(signal))
  if (missing.length === 0) return undefined
  return {
    code: 'BundleIncomplete',
    message: `the bundle does not hold ${missing.join(', ')}; make it anew with these images`,
  }
}

/** Asked of the new kubeadm itself, with the cluster's own configuration: it names repositories and tags of its own. */
async function imagesOfTarget(staging: Staging, kubeadm: string, signal: AbortSignal): Promise<readonly string[]> {
  const { host, order, stagingFolder } = staging
  const configuration = atVersion(await readClusterConfiguration(host, signal), targetVersion(order).text)
  const path = `${stagingFolder}/kubeadm/cluster-configuration.yaml`
  await host.files.write(path, configuration, { mode: 0o600, owner: 'root', group: 'root' })
  // The short form: up to 1.30 the long one is another.
  const argv = [kubeadm, 'config', 'images', 'list', `--config=${path}`, '-o', 'json']
  return (await jsonAnswerOf(host, { argv }, imageListSchema, signal)).images
}

/** The new kubeadm out of its staged package; the installed one where that is new already. */
async function stagedKubeadm({ host, notes, stagingFolder }: Staging, signal: AbortSignal): Promise<string> {
  const file = (await stagedComponent('kubeadm', notes))?.file
  if (file === undefined) return 'kubeadm'
  const folder = `${stagingFolder}/kubeadm/unpacked`
  await answerOf(host, { argv: ['mkdir', '-p', folder] }, signal)
  const argv = file.endsWith('.rpm')
    ? ['/bin/sh', '-c', unpackRpm, 'unpack-rpm', file, folder]
    : ['dpkg-deb', '--extract', file, folder]
  await answerOf(host, { argv, timeoutMs: 5 * 60_000 }, signal)
  return `${folder}/usr/bin/kubeadm`
}

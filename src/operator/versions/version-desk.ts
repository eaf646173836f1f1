// Who else knows which versions there are, asked when the hosts' own package index does not tell enough.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { versionsInBundle } from '../../core/bundle/versions-in-bundle.ts'
import { imageRepositoryOf } from '../../core/kubernetes/image-repository.ts'
import { type Offer, type Offers, offerOf } from '../../core/versions/offers.ts'
import type { BundleManifests } from '../../ports/bundle-manifests.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

export interface VersionDeskOptions {
  readonly api: KubeApi
  readonly namespace: string
  /** All tags of a repository; absent: registries are not asked from here. */
  readonly tags?: ((repository: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined
  /** What a bundle on a server holds; absent: bundles are not looked at from here. */
  readonly manifest?: BundleManifests['read'] | undefined
}

/** In the operator's namespace; its key `versions` has one on each line. */
export const versionsConfigMap = 'slipway-versions'

type Answer = { readonly offer: Offer } | { readonly silent: string } | { readonly failing: string }

/** In the stated order; who cannot answer says why, and the next one is asked. */
export async function askForVersions(
  options: VersionDeskOptions,
  { airGapped }: Pick<DirectUpdateSpec, 'airGapped'>,
  signal: AbortSignal,
): Promise<Offers> {
  const answers = airGapped
    ? [await askBundle(options, airGapped.bundle.url, signal)]
    : await Promise.all([askRegistry(options, signal), askConfigMap(options, signal)])
  return {
    lists: answers.flatMap((answer) => ('offer' in answer ? [answer.offer] : [])),
    silent: answers.flatMap((answer) => ('silent' in answer ? [answer.silent] : failuresOf(answer))),
    failing: answers.flatMap(failuresOf),
  }
}

function failuresOf(answer: Answer): readonly string[] {
  return 'failing' in answer ? [answer.failing] : []
}

async function askBundle({ manifest }: VersionDeskOptions, url: string, signal: AbortSignal): Promise<Answer> {
  const silent = 'what the bundle holds cannot be seen from here: name the version, and each minor version by itself'
  if (!manifest || url.startsWith('/')) return { silent }
  try {
    return { offer: offerOf('Bundle', versionsInBundle(await manifest(url, signal))) }
  } catch (error) {
    if (!(error instanceof SlipwayError)) throw error
    return { failing: `the bundle could not be looked at: ${error.message}` }
  }
}

async function askRegistry({ api, tags }: VersionDeskOptions, signal: AbortSignal): Promise<Answer> {
  if (!tags) return { silent: 'registries are not asked from here' }
  const repository = `${await clusterImages(api, signal)}/kube-apiserver`
  try {
    return { offer: offerOf('Registry', await tags(repository, signal)) }
  } catch (error) {
    if (!(error instanceof SlipwayError)) throw error
    return { failing: `${repository} could not be asked: ${error.message}` }
  }
}

/** Where the cluster's own images come from; a cluster that kubeadm did not make has no such record. */
async function clusterImages(api: KubeApi, signal: AbortSignal): Promise<string> {
  const record = await readConfigMap(api, { namespace: 'kube-system', name: 'kubeadm-config' }, signal)
  return imageRepositoryOf('data' in record ? record.data.ClusterConfiguration : undefined)
}

async function askConfigMap({ api, namespace }: VersionDeskOptions, signal: AbortSignal): Promise<Answer> {
  const found = await readConfigMap(api, { namespace, name: versionsConfigMap }, signal)
  if (!('data' in found)) return { silent: found.unread }
  const { versions } = found.data
  if (versions === undefined) return { silent: `ConfigMap ${namespace}/${versionsConfigMap} has no key "versions"` }
  return { offer: offerOf('ConfigMap', versions.split(/\s+/)) }
}

async function readConfigMap(
  api: KubeApi,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<{ readonly data: Readonly<Record<string, string>> } | { readonly unread: string }> {
  const name = `ConfigMap ${ref.namespace}/${ref.name}`
  try {
    return { data: (await api.get(configMaps, ref, signal)).data ?? {} }
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return { unread: `there is no ${name}` }
    if (isKubeError(error, 'Forbidden')) return { unread: `${name} may not be read` }
    throw error
  }
}

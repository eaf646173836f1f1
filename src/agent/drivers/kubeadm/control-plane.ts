// Whether this host's control plane is at a version, by looking: what the manifests say, what the kubelet made of them, and what
// the API server of this very host answers.

import {
  controlPlaneComponents,
  imageTag,
  localApiServer,
  staticPodImage,
  versionTag,
} from '../../../core/kubernetes/static-pod.ts'
import { sameVersion } from '../../../core/version.ts'
import type { Host } from '../../../ports/host.ts'
import { readControlPlanePods, readServerVersion } from './cluster-record.ts'

export const manifestFolder = '/etc/kubernetes/manifests'

const manifestPath = (component: string) => `${manifestFolder}/${component}.yaml`

export interface ManifestLook {
  /** Image of each static pod that is there. */
  readonly images: Readonly<Record<string, string>>
  /** Where the host's own API server answers. */
  readonly server: string | undefined
}

export async function lookAtManifests(host: Host): Promise<ManifestLook> {
  const images: Record<string, string> = {}
  for (const component of [...controlPlaneComponents, 'etcd']) {
    const image = staticPodImage((await host.files.read(manifestPath(component))) ?? '')
    if (image !== undefined) images[component] = image
  }
  return { images, server: localApiServer((await host.files.read(manifestPath('kube-apiserver'))) ?? '') }
}

/** What the manifests lack of the version; undefined when they name it. */
export function missingInManifests({ images }: ManifestLook, version: string): string | undefined {
  for (const component of controlPlaneComponents) {
    const image = images[component]
    if (image === undefined) return `${manifestPath(component)} is not there, or names no image`
    if (imageTag(image) !== versionTag(version)) return `${manifestPath(component)} names ${image}, not ${version}`
  }
  return undefined
}

/** What is missing until the control plane of this host runs at the version; undefined when it does. */
export async function missingInControlPlane(
  host: Host,
  nodeName: string,
  version: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const look = await lookAtManifests(host)
  const missing = missingInManifests(look, version)
  if (missing !== undefined) return missing
  const pods = (await readControlPlanePods(host, nodeName, signal)).items
  for (const [component, image] of Object.entries(look.images)) {
    const pod = pods.find(({ metadata }) => metadata.labels?.component === component)
    const running = pod?.spec.containers[0]?.image
    if (running !== image) return `the kubelet runs ${component} as ${running ?? 'nothing'}, not ${image}`
    if (!pod?.status.containerStatuses?.every(({ ready }) => ready))
      return `${component} is not ready at ${version} yet`
  }
  if (look.server === undefined) return undefined
  const answered = await readServerVersion(host, look.server, signal)
  return sameVersion(answered, version) ? undefined : `the API server at ${look.server} says it is ${answered}`
}

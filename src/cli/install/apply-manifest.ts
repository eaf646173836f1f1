// One object brought to what it should be: made, or replaced in everything that is ours to say.

import type { KubeObject } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { kindOf } from './installed-kinds.ts'
import type { Manifest } from './manifest.ts'

export type Applied = 'created' | 'changed' | 'unchanged'

const attempts = 5

export async function applyManifest(api: KubeApi, manifest: Manifest, signal: AbortSignal): Promise<Applied> {
  const type = kindOf(manifest)
  const { name, namespace } = manifest.metadata
  const ref = { name, ...(namespace !== undefined && { namespace }) }
  for (let attempt = 1; ; attempt += 1) {
    try {
      await api.create(type, manifest, signal)
      return 'created'
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
    try {
      const found = await api.get(type, ref, signal)
      const kept = await api.replace(type, merged(found, manifest), signal)
      return kept.metadata.resourceVersion === found.metadata.resourceVersion ? 'unchanged' : 'changed'
    } catch (error) {
      // Somebody wrote or removed it meanwhile.
      if (attempt === attempts || !isKubeError(error, 'Conflict', 'NotFound')) throw error
    }
  }
}

/** Labels and annotations of others stay, and so does what we say nothing of. */
function merged(found: KubeObject, wanted: Manifest): KubeObject {
  const { labels, annotations } = found.metadata
  return {
    ...found,
    ...wanted,
    metadata: {
      ...found.metadata,
      labels: { ...labels, ...wanted.metadata.labels },
      ...((annotations || wanted.metadata.annotations) && {
        annotations: { ...annotations, ...wanted.metadata.annotations },
      }),
    },
  }
}

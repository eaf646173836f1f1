// Volumes of pods that have left: the node is empty only when they are detached, else the pods' successors cannot start.

import type { Pod } from '../../api/kube.ts'
import type { VolumeAttachment } from '../../api/kube-storage.ts'
import { hasEnded } from './workload-of.ts'

/** The claims the pod uses, as `namespace/name`. */
export function claimsOf(pod: Pod): readonly string[] {
  const { metadata, spec } = pod
  if (hasEnded(pod)) return []
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [`${metadata.namespace}/${persistentVolumeClaim.claimName}`]
    return ephemeral === undefined ? [] : [`${metadata.namespace}/${metadata.name}-${name}`]
  })
}

/** What is attached and used by no pod that stays; by name of the volume. Volumes written in a pod itself have none. */
export function leftBehind(
  attachments: readonly VolumeAttachment[],
  inUse: ReadonlySet<string>,
): readonly { readonly volume: string; readonly attachment: string }[] {
  return attachments
    .flatMap(({ metadata, spec }) => {
      const volume = spec.source.persistentVolumeName
      return volume === undefined || inUse.has(volume) ? [] : [{ volume, attachment: metadata.name }]
    })
    .toSorted((a, b) => (a.volume < b.volume ? -1 : 1))
}

// The parts of Kubernetes' storage objects that tell whether a node's volumes are free.

import type { KubeObject, ResourceType } from './kube.ts'

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: { readonly volumeName?: string; readonly [field: string]: unknown }
}

/** A volume that is, or is to be, attached to a node. */
export interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly attacher: string
    readonly nodeName: string
    readonly source: { readonly persistentVolumeName?: string; readonly [field: string]: unknown }
  }
  readonly status?: { readonly attached: boolean; readonly [field: string]: unknown }
}

export const persistentVolumeClaims: ResourceType<PersistentVolumeClaim> = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}

export const volumeAttachments: ResourceType<VolumeAttachment> = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  namespaced: false,
}

// VolumeAttachments, watched only while something drains: a node is empty when the volumes of those who left are detached.

import type { Pod } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { persistentVolumeClaims, type VolumeAttachment, volumeAttachments } from '../../api/kube-storage.ts'
import { claimsOf, leftBehind } from '../../core/drain/attached-volumes.ts'
import type { OperatorPorts } from '../ports.ts'
import { SharedWatch } from './shared-watch.ts'

export class VolumeWatch {
  readonly #ports: OperatorPorts
  readonly #watch: SharedWatch<VolumeAttachment>

  constructor(ports: OperatorPorts, wake: (node: string) => void, signal: AbortSignal) {
    this.#ports = ports
    this.#watch = new SharedWatch({
      ports,
      type: volumeAttachments,
      transform: slimAttachment,
      indexes: { node: ({ spec }) => [spec.nodeName] },
      changed: ({ spec }) => wake(spec.nodeName),
      signal,
    })
  }

  use(): () => void {
    return this.#watch.use()
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#watch.synced(signal)
  }

  get isSynced(): boolean {
    return this.#watch.isSynced
  }

  get failure(): unknown {
    return this.#watch.failure
  }

  /** What is attached to the node and used by none of the pods that stay there. */
  async leftBehind(node: string, staying: readonly Pod[], signal: AbortSignal): Promise<ReturnType<typeof leftBehind>> {
    const attachments = this.#watch.byIndex('node', node)
    if (attachments.length === 0) return []
    // Seldom any: of what a drain leaves, hardly a pod has a claim.
    const volumes = await Promise.all(staying.flatMap(claimsOf).map((claim) => this.#volumeOf(claim, signal)))
    return leftBehind(attachments, new Set(volumes.flatMap((volume) => volume ?? [])))
  }

  async #volumeOf(claim: string, signal: AbortSignal): Promise<string | undefined> {
    const [namespace = '', name = ''] = claim.split('/')
    try {
      return (await this.#ports.api.get(persistentVolumeClaims, { namespace, name }, signal)).spec.volumeName
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
      return undefined
    }
  }
}

function slimAttachment({ metadata, spec }: VolumeAttachment): VolumeAttachment {
  const { name, uid, resourceVersion, creationTimestamp } = metadata
  const { persistentVolumeName } = spec.source
  return {
    metadata: { name, uid, resourceVersion, creationTimestamp },
    spec: {
      attacher: spec.attacher,
      nodeName: spec.nodeName,
      source: persistentVolumeName === undefined ? {} : { persistentVolumeName },
    },
  }
}

import type { KubeObject, Node, Pod, ResourceType } from '../../api/kube.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { Random } from '../../ports/random.ts'
import type { Following } from './following.ts'

/** What the controllers of one control plane share: one watch a kind, whoever reads it. */
export interface ActorContext {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  following<T extends KubeObject>(type: ResourceType<T>): Following<T>
  /** An error that no retry can mend: the whole control plane ends with it. */
  failed(error: unknown): void
}

export function isReady(object: Pod | Node): boolean {
  for (const { type, status } of object.status?.conditions ?? []) if (type === 'Ready') return status === 'True'
  return false
}

export function hasEnded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

export function controllerOf(
  object: KubeObject,
): NonNullable<KubeObject['metadata']['ownerReferences']>[number] | undefined {
  for (const owner of object.metadata.ownerReferences ?? []) if (owner.controller === true) return owner
  return undefined
}

/** The reference a controller puts on what it makes. */
export function ownedBy(owner: KubeObject, type: ResourceType): NonNullable<KubeObject['metadata']['ownerReferences']> {
  return [
    {
      apiVersion: type.apiVersion,
      kind: type.kind,
      name: owner.metadata.name,
      uid: owner.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]
}

import { type Pod, type PodTemplate, pods as podType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { ActorContext } from './actor.ts'
import { controllerOf, hasEnded, isReady } from './actor.ts'

/** The pods of each controller of one kind, found by its uid; and the two things done to them. */
export class OwnedPods {
  readonly #context: ActorContext
  readonly #byOwner = new Map<string, Map<string, Pod>>()
  /** Deleted by us, not yet seen to go. */
  readonly #leaving = new Set<string>()

  constructor(
    context: ActorContext,
    kind: string,
    /** A pod came, is going, went or ended: something may have to be done. Otherwise only its readiness changed. */
    changed: (ownerKey: string, what: 'pods' | 'readiness') => void,
  ) {
    this.#context = context
    context.following(podType).subscribe((after, before) => {
      const pod = after ?? before
      const owner = pod === undefined ? undefined : controllerOf(pod)
      if (pod === undefined || owner?.kind !== kind) return
      this.#index(owner.uid, pod, after !== undefined)
      const what = difference(after, before)
      if (what !== undefined) changed(`${pod.metadata.namespace}/${owner.name}`, what)
    })
  }

  of(ownerUid: string): readonly Pod[] {
    return [...(this.#byOwner.get(ownerUid)?.values() ?? [])]
  }

  /** Those that count: not ended and not on their way out. */
  active(ownerUid: string): readonly Pod[] {
    return this.of(ownerUid).filter((pod) => !hasEnded(pod) && !this.isLeaving(pod))
  }

  isLeaving(pod: Pod): boolean {
    return pod.metadata.deletionTimestamp !== undefined || this.#leaving.has(pod.metadata.uid)
  }

  async create(
    metadata: Pick<Pod['metadata'], 'ownerReferences' | 'namespace'> & {
      readonly name?: string
      readonly generateName?: string
    },
    template: PodTemplate,
    spec: Partial<Pod['spec']> = {},
  ): Promise<void> {
    const { api, signal } = this.#context
    const pod = await api.create(
      podType,
      {
        metadata: { ...template.metadata, ...metadata },
        spec: { ...template.spec, ...spec },
      },
      signal,
    )
    this.#context.following(podType).learn(pod)
  }

  async delete(pod: Pod): Promise<void> {
    const { api, signal } = this.#context
    const { name, namespace, uid } = pod.metadata
    this.#leaving.add(uid)
    try {
      await api.delete(podType, namespace === undefined ? { name } : { name, namespace }, { uid }, signal)
    } catch (error) {
      if (isKubeError(error, 'NotFound', 'Conflict')) return
      this.#leaving.delete(uid)
      throw error
    }
  }

  #index(ownerUid: string, pod: Pod, present: boolean): void {
    let pods = this.#byOwner.get(ownerUid)
    if (pods === undefined) {
      pods = new Map()
      this.#byOwner.set(ownerUid, pods)
    }
    if (present) {
      pods.set(pod.metadata.uid, pod)
      return
    }
    pods.delete(pod.metadata.uid)
    this.#leaving.delete(pod.metadata.uid)
    if (pods.size === 0) this.#byOwner.delete(ownerUid)
  }
}

function difference(after: Pod | undefined, before: Pod | undefined): 'pods' | 'readiness' | undefined {
  if (after === undefined || before === undefined) return 'pods'
  if (after.metadata.deletionTimestamp !== before.metadata.deletionTimestamp) return 'pods'
  if (hasEnded(after) !== hasEnded(before)) return 'pods'
  return isReady(after) === isReady(before) ? undefined : 'readiness'
}

/** All of them, and then the first error of any. */
export async function allDone(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

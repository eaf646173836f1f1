import { type Pod, type PodTemplate, pods as podType } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { ActorContext } from './actor.ts'
import { controllerOf, hasEnded, isReady } from './actor.ts'

interface Owned {
  readonly pods: Map<string, Pod>
  /** Those that count: not ended and not on their way out. */
  active: number
  /** Those of the active that are ready. */
  ready: number
}

/** The pods of each controller of one kind, found by its uid; and the two things done to them. */
export class OwnedPods {
  readonly #context: ActorContext
  readonly #byOwner = new Map<string, Owned>()
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
      this.#index(owner.uid, pod.metadata.uid, after)
      const what = difference(after, before)
      if (what !== undefined) changed(`${pod.metadata.namespace}/${owner.name}`, what)
    })
  }

  of(ownerUid: string): readonly Pod[] {
    return [...(this.#byOwner.get(ownerUid)?.pods.values() ?? [])]
  }

  /** Those that count: not ended and not on their way out. */
  active(ownerUid: string): readonly Pod[] {
    return this.of(ownerUid).filter((pod) => this.#isActive(pod))
  }

  /** How many count, and how many of them are ready; known without a look at each. */
  tally(ownerUid: string): { readonly active: number; readonly ready: number } {
    return this.#byOwner.get(ownerUid) ?? { active: 0, ready: 0 }
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
    this.#setLeaving(pod, true)
    try {
      await api.delete(podType, namespace === undefined ? { name } : { name, namespace }, { uid }, signal)
    } catch (error) {
      if (isKubeError(error, 'NotFound', 'Conflict')) return
      this.#setLeaving(pod, false)
      throw error
    }
  }

  #isActive(pod: Pod): boolean {
    return !hasEnded(pod) && !this.isLeaving(pod)
  }

  #setLeaving(pod: Pod, leaving: boolean): void {
    const { uid } = pod.metadata
    const owned = this.#byOwner.get(controllerOf(pod)?.uid ?? '')
    const known = owned?.pods.get(uid)
    this.#count(owned, known, -1)
    if (leaving) this.#leaving.add(uid)
    else this.#leaving.delete(uid)
    this.#count(owned, known, 1)
  }

  #index(ownerUid: string, uid: string, after: Pod | undefined): void {
    let owned = this.#byOwner.get(ownerUid)
    if (owned === undefined) {
      owned = { pods: new Map(), active: 0, ready: 0 }
      this.#byOwner.set(ownerUid, owned)
    }
    this.#count(owned, owned.pods.get(uid), -1)
    if (after !== undefined) {
      owned.pods.set(uid, after)
      this.#count(owned, after, 1)
      return
    }
    owned.pods.delete(uid)
    this.#leaving.delete(uid)
    if (owned.pods.size === 0) this.#byOwner.delete(ownerUid)
  }

  #count(owned: Owned | undefined, pod: Pod | undefined, by: 1 | -1): void {
    if (owned === undefined || pod === undefined || !this.#isActive(pod)) return
    owned.active += by
    if (isReady(pod)) owned.ready += by
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

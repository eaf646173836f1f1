import type { Pod } from '../../api/kube.ts'
import { controllerOf, hasEnded, isReady } from './actor.ts'

/** A controller of pods, and how many of those the budget covers. */
interface Owner {
  readonly key: string
  readonly kind: string
  pods: number
}

/** The pods that one budget covers, counted as they change: a look costs nothing, however many there are. */
export class BudgetMembers {
  readonly #pods = new Map<string, Pod>()
  readonly #owners = new Map<string, Owner>()
  #present = 0
  #healthy = 0

  /** Those that have not ended. */
  get present(): number {
    return this.#present
  }

  /** Those that are ready and stay. */
  get healthy(): number {
    return this.#healthy
  }

  /** The controllers of those present. */
  owners(): Iterable<{ readonly key: string; readonly kind: string }> {
    return this.#owners.values()
  }

  get(key: string): Pod | undefined {
    return this.#pods.get(key)
  }

  put(key: string, pod: Pod): void {
    this.#count(this.#pods.get(key), -1)
    this.#pods.set(key, pod)
    this.#count(pod, 1)
  }

  delete(key: string): void {
    this.#count(this.#pods.get(key), -1)
    this.#pods.delete(key)
  }

  #count(pod: Pod | undefined, by: 1 | -1): void {
    if (pod === undefined || hasEnded(pod)) return
    this.#present += by
    if (isHealthy(pod)) this.#healthy += by
    const owner = controllerOf(pod)
    if (owner === undefined) return
    const known = this.#owners.get(owner.uid)
    if (known === undefined) {
      this.#owners.set(owner.uid, { key: `${pod.metadata.namespace}/${owner.name}`, kind: owner.kind, pods: by })
      return
    }
    known.pods += by
    if (known.pods === 0) this.#owners.delete(owner.uid)
  }
}

export function isHealthy(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod)
}

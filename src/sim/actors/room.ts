import type { Container, Node, Pod } from '../../api/kube.ts'
import { quantity } from './quantity.ts'

type Amounts = ReadonlyMap<string, number>

const defaultPods = 110
/** Sums of decimal fractions are off by less than this share. */
const rounding = 1e-9

/** What the pods on each node ask for, and whether one more fits. */
export class Room {
  readonly #used = new Map<string, Map<string, number>>()
  readonly #pods = new Map<string, number>()
  /** Pods of one template share their list of containers. */
  readonly #asked = new WeakMap<object, Amounts>()

  count(pod: Pod, node: string, by: 1 | -1): void {
    this.#pods.set(node, this.podsOn(node) + by)
    const asked = this.#requests(pod)
    if (asked.size === 0) return
    const used = this.#used.get(node) ?? new Map<string, number>()
    this.#used.set(node, used)
    for (const [resource, amount] of asked) used.set(resource, (used.get(resource) ?? 0) + by * amount)
  }

  podsOn(node: string): number {
    return this.#pods.get(node) ?? 0
  }

  /** The resource of which the node has not enough left for this pod. */
  shortOf(pod: Pod, node: Node): string | undefined {
    const { name } = node.metadata
    const allocatable = node.status?.allocatable
    const pods = allocatable?.pods === undefined ? defaultPods : quantity(allocatable.pods)
    if (this.podsOn(name) >= pods) return 'pods'
    const used = this.#used.get(name)
    for (const [resource, amount] of this.#requests(pod)) {
      const has = allocatable?.[resource]
      // A node that says nothing of its processor or memory is not held against them; a device it does not name it has not.
      if (has === undefined && !resource.includes('/')) continue
      const total = quantity(has)
      if ((used?.get(resource) ?? 0) + amount > total * (1 + rounding)) return resource
    }
    return undefined
  }

  #requests({ spec }: Pod): Amounts {
    const known = this.#asked.get(spec.containers)
    if (known) return known
    const asked = requestsOf(spec)
    this.#asked.set(spec.containers, asked)
    return asked
  }
}

/** Whether the node could take the pod if it were empty. */
export function couldHold(pod: Pod, node: Node): boolean {
  return new Room().shortOf(pod, node) === undefined
}

/** All containers together; and no less than the hungriest of those that run before them. */
function requestsOf({ containers, initContainers = [] }: Pod['spec']): Amounts {
  const total = new Map<string, number>()
  const add = ({ resources }: Container) => {
    for (const [resource, amount] of Object.entries(resources?.requests ?? {})) {
      total.set(resource, (total.get(resource) ?? 0) + quantity(amount))
    }
  }
  containers.forEach(add)
  initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').forEach(add)
  for (const { resources } of initContainers) {
    for (const [resource, amount] of Object.entries(resources?.requests ?? {})) {
      total.set(resource, Math.max(total.get(resource) ?? 0, quantity(amount)))
    }
  }
  return new Map([...total].filter(([, amount]) => amount > 0))
}

// Whether pods that must leave their nodes find room elsewhere without doubt. Reckoned with a wide margin: what is called roomy is
// so however the scheduler decides, what is not may still go well. What can be left out is so where the others are placed badly.

import type { Node, NodeRequirement, NodeSelectorTerm, Pod } from '../../api/kube.ts'
import { parseQuantity } from '../kubernetes/quantity.ts'
import { selects } from '../label-selector.ts'
import { couldRun, isUnavailable } from '../node/node-facts.ts'
import { type Amounts, podRequests } from './pod-requests.ts'

/** As many times as what a pod asks for must be free for a node to count: others look for a place at the same time. */
const margin = 2
/** So many nodes must have room, besides two for each that is away. */
const spareNodes = 3
const defaultPods = 110

export class RoomLeft {
  readonly #nodes: readonly Node[]
  readonly #atOnce: number
  readonly #free = new Map<string, Map<string, number>>()
  readonly #mobile: readonly string[]
  readonly #asked = new WeakMap<object, Amounts>()
  readonly #wanted = new Map<string, readonly Node[]>()
  readonly #roomy = new Map<string, boolean>()
  readonly #leftOut = new Map<string, boolean>()
  readonly #used = new Map<string, Map<string, number>>()
  readonly #displaced = new Map<string, number>()

  /** `leaving`: the pods that have to go when their nodes are drained, `atOnce` nodes at a time. */
  constructor(nodes: readonly Node[], pods: Iterable<Pod>, leaving: ReadonlySet<string>, atOnce: number) {
    this.#nodes = nodes
    this.#atOnce = atOnce
    for (const node of nodes) this.#free.set(node.metadata.name, allocatable(node))
    this.#mobile = nodes
      .filter((node) => isUnavailable(node) || leaving.has(node.metadata.name))
      .map(({ metadata }) => metadata.name)
    const moving = new Map<string, Map<string, number>>()
    for (const pod of pods) {
      const name = pod.spec.nodeName ?? ''
      const free = this.#free.get(name)
      if (!free || hasEnded(pod)) continue
      const asked = this.#requests(pod)
      add(free, asked, -1)
      const used = this.#used.get(name) ?? new Map<string, number>()
      this.#used.set(name, used)
      add(used, asked, 1)
      if (!leaving.has(name)) continue
      const sum = moving.get(name) ?? new Map<string, number>()
      add(sum, asked, 1)
      moving.set(name, sum)
    }
    for (const resource of new Set([...moving.values()].flatMap((sum) => [...sum.keys()]))) {
      const most = [...moving.values()].map((sum) => sum.get(resource) ?? 0).sort((a, b) => b - a)
      this.#displaced.set(
        resource,
        most.slice(0, atOnce).reduce((sum, amount) => sum + amount, 0),
      )
    }
  }

  /** Whether it finds a place whatever else happens. */
  isRoomy(pod: Pod): boolean {
    const asked = this.#requests(pod)
    const key = `${wishesOf(pod)} ${JSON.stringify([...asked])}`
    const known = this.#roomy.get(key)
    if (known !== undefined) return known
    const answer = this.#reckon(pod, asked)
    this.#roomy.set(key, answer)
    return answer
  }

  /** Whether the other pods can lie so that no node has room for it while as many are away as may be. */
  canBeLeftOut(pod: Pod): boolean {
    const asked = this.#requests(pod)
    const key = `${wishesOf(pod)} ${JSON.stringify([...asked])}`
    const known = this.#leftOut.get(key)
    if (known !== undefined) return known
    const wanted = this.wantedBy(pod)
    // Where none is left in any case, chance has no part in it.
    const answer =
      wanted.length > this.#atOnce && [...asked].some(([name, amount]) => this.#canFill(wanted, name, amount))
    this.#leftOut.set(key, answer)
    return answer
  }

  /** Whether all there is of a resource on the wanted nodes can be taken up to less than this, by what may come there. */
  #canFill(wanted: readonly Node[], resource: string, amount: number): boolean {
    if (amount <= 0) return false
    const spare = wanted
      .map((node) => Math.max(0, (allocatable(node).get(resource) ?? 0) - amount))
      .toSorted((a, b) => a - b)
    const needed = spare.slice(0, spare.length - this.#atOnce).reduce((sum, one) => sum + one, 0)
    const others = new Set([...wanted.map(({ metadata }) => metadata.name), ...this.#mobile])
    let used = -amount
    for (const name of others) used += this.#used.get(name)?.get(resource) ?? 0
    return used >= needed
  }

  /** The nodes that could ever take it, full or not. */
  wantedBy(pod: Pod): readonly Node[] {
    const key = wishesOf(pod)
    const known = this.#wanted.get(key)
    if (known) return known
    const found = this.#nodes.filter((node) => couldRun(node, pod) && isWanted(pod, node))
    this.#wanted.set(key, found)
    return found
  }

  #reckon(pod: Pod, asked: Amounts): boolean {
    const wanted = this.wantedBy(pod).map(({ metadata }) => this.#free.get(metadata.name))
    const open = wanted.filter((free) =>
      [...asked].every(([name, amount]) => (free?.get(name) ?? 0) >= margin * amount),
    )
    if (open.length < spareNodes + 2 * this.#atOnce) return false
    return [...asked.keys()].every((name) => {
      const left = wanted.reduce((sum, free) => sum + Math.max(0, free?.get(name) ?? 0), 0)
      return left >= margin * (this.#displaced.get(name) ?? 0)
    })
  }

  #requests({ spec }: Pod): Amounts {
    const known = this.#asked.get(spec.containers)
    if (known) return known
    const asked = podRequests(spec)
    this.#asked.set(spec.containers, asked)
    return asked
  }
}

function wishesOf({ spec }: Pod): string {
  const { nodeSelector, affinity, tolerations } = spec
  return JSON.stringify([nodeSelector, affinity?.nodeAffinity, tolerations])
}

function isWanted({ spec }: Pod, { metadata }: Node): boolean {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  const meets = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) =>
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((one) => holds(one, metadata.labels)) &&
    matchFields.every((one) => holds(one, { 'metadata.name': metadata.name }))
  return terms?.some(meets) ?? true
}

/** What asks for more or less than a number is taken not to hold: that errs towards doubt. */
function holds({ key, operator, values }: NodeRequirement, labels: Node['metadata']['labels']): boolean {
  if (operator === 'Gt' || operator === 'Lt') return false
  return selects({ matchExpressions: [{ key, operator, values }] }, labels)
}

/** Of what a node does not name it has as much as anybody wants; but no devices. */
function allocatable({ status }: Node): Map<string, number> {
  const named = Object.entries(status?.allocatable ?? {}).map(
    ([name, text]) => [name, parseQuantity(text) ?? 0] as const,
  )
  const assumed = { cpu: Infinity, memory: Infinity, pods: defaultPods }
  return new Map([...Object.entries(assumed), ...named])
}

function add(sum: Map<string, number>, amounts: Amounts, by: 1 | -1): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + by * amount)
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

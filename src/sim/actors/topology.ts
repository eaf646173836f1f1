import type { LabelSelector, Node, Pod, PodAffinityTerm } from '../../api/kube.ts'
import { SelectorIndex } from '../server/selector-index.ts'
import { matchesSelector } from '../server/selectors.ts'
import { isWanted } from './placement.ts'

interface Watched {
  readonly selector: LabelSelector | undefined
  readonly topologyKey: string
  readonly byDomain: Map<string, number>
  total: number
}

interface Placed {
  readonly pod: Pod
  readonly node: string
}

/**
 * Required affinity, anti-affinity and spread: how many pods of a selector run in each domain, kept only for selectors that
 * some pod has asked about. What pods that run already hold against a newcomer is not looked at, unless he says the same.
 */
export class Topology {
  readonly #nodes: { get(name: string): Node | undefined; values(): Iterable<Node> }
  readonly #watched = new Map<string, Watched>()
  readonly #index = new SelectorIndex()
  readonly #placed = new Map<string, Map<string, Placed>>()
  #domains = new Map<string, ReadonlySet<string>>()

  constructor(nodes: { get(name: string): Node | undefined; values(): Iterable<Node> }) {
    this.#nodes = nodes
  }

  /** Nodes came, went or were labelled anew. */
  forgetDomains(): void {
    this.#domains = new Map()
  }

  count(pod: Pod, node: string, by: 1 | -1): void {
    const { namespace = '', uid, labels } = pod.metadata
    const here = this.#placed.get(namespace) ?? new Map<string, Placed>()
    this.#placed.set(namespace, here)
    if (by > 0) here.set(uid, { pod, node })
    else here.delete(uid)
    for (const key of this.#index.candidates(namespace, labels)) {
      const watched = this.#watched.get(key)
      if (watched && matchesSelector(watched.selector, labels)) this.#add(watched, node, by)
    }
  }

  /** What the pods elsewhere keep this pod off the node for, in the words of the real scheduler. */
  conflict(pod: Pod, node: Node): string | undefined {
    const { affinity, topologySpreadConstraints } = pod.spec
    for (const term of affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (this.#found(pod, term).some((watched) => here(watched, node) > 0)) {
        return "didn't match pod anti-affinity rules"
      }
    }
    for (const term of affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      const found = this.#found(pod, term)
      // The first of its kind need not wait for itself.
      const first = found.every(({ total }) => total === 0) && matchesSelector(term.labelSelector, pod.metadata.labels)
      if (!first && !found.some((watched) => here(watched, node) > 0)) return "didn't match pod affinity rules"
    }
    for (const { whenUnsatisfiable, maxSkew, topologyKey, labelSelector } of topologySpreadConstraints ?? []) {
      if (whenUnsatisfiable !== 'DoNotSchedule') continue
      if (node.metadata.labels?.[topologyKey] === undefined) return 'lacked the label of a topology spread constraint'
      const watched = this.#watch(pod.metadata.namespace ?? '', topologyKey, labelSelector)
      if (here(watched, node) + 1 - this.#fewest(pod, watched) > maxSkew) {
        return "didn't match pod topology spread constraints"
      }
    }
    return undefined
  }

  #found(pod: Pod, { namespaces, topologyKey, labelSelector }: PodAffinityTerm): readonly Watched[] {
    const where = namespaces?.length ? namespaces : [pod.metadata.namespace ?? '']
    return where.map((namespace) => this.#watch(namespace, topologyKey, labelSelector))
  }

  #watch(namespace: string, topologyKey: string, selector: LabelSelector | undefined): Watched {
    const key = `${namespace} ${topologyKey} ${JSON.stringify(selector)}`
    const known = this.#watched.get(key)
    if (known) return known
    const watched: Watched = { selector, topologyKey, byDomain: new Map(), total: 0 }
    this.#watched.set(key, watched)
    this.#index.add(namespace, key, selector)
    for (const { pod, node } of this.#placed.get(namespace)?.values() ?? []) {
      if (matchesSelector(selector, pod.metadata.labels)) this.#add(watched, node, 1)
    }
    return watched
  }

  #add(watched: Watched, node: string, by: 1 | -1): void {
    watched.total += by
    const domain = this.#nodes.get(node)?.metadata.labels?.[watched.topologyKey]
    if (domain !== undefined) watched.byDomain.set(domain, (watched.byDomain.get(domain) ?? 0) + by)
  }

  /** Of the domains that the pod could choose among. */
  #fewest(pod: Pod, { topologyKey, byDomain }: Watched): number {
    const { nodeSelector, affinity } = pod.spec
    const key = `${topologyKey} ${JSON.stringify([nodeSelector, affinity?.nodeAffinity])}`
    let domains = this.#domains.get(key)
    if (!domains) {
      domains = new Set(
        [...this.#nodes.values()].flatMap((node) =>
          isWanted(pod, node) ? (node.metadata.labels?.[topologyKey] ?? []) : [],
        ),
      )
      this.#domains.set(key, domains)
    }
    let fewest = Number.POSITIVE_INFINITY
    for (const domain of domains) fewest = Math.min(fewest, byDomain.get(domain) ?? 0)
    return fewest
  }
}

/** Whether what runs elsewhere decides where this pod may go. */
export function hasTopology({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {}
  return Boolean(podAffinity ?? podAntiAffinity ?? spec.topologySpreadConstraints)
}

function here({ topologyKey, byDomain }: Watched, node: Node): number {
  const domain = node.metadata.labels?.[topologyKey]
  return domain === undefined ? 0 : (byDomain.get(domain) ?? 0)
}

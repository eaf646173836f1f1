import type { KubeObject, LabelSelector } from '../../api/kube.ts'

/** Selectors by one label they ask for, so that those of a pod are found without looking at all of its namespace's. */
export class SelectorIndex {
  readonly #byNamespace = new Map<string, Map<string, Set<string>>>()

  add(namespace: string, key: string, selector: LabelSelector | undefined): void {
    let index = this.#byNamespace.get(namespace)
    if (index === undefined) {
      index = new Map()
      this.#byNamespace.set(namespace, index)
    }
    const term = termOf(selector)
    const keys = index.get(term)
    if (keys === undefined) index.set(term, new Set([key]))
    else keys.add(key)
  }

  remove(namespace: string, key: string, selector: LabelSelector | undefined): void {
    const index = this.#byNamespace.get(namespace)
    const term = termOf(selector)
    const keys = index?.get(term)
    keys?.delete(key)
    if (keys?.size === 0) index?.delete(term)
  }

  /** Those that may match; the caller asks the selector. */
  candidates(namespace: string, labels: KubeObject['metadata']['labels']): readonly string[] {
    const index = this.#byNamespace.get(namespace)
    if (index === undefined) return []
    const found = [...(index.get('') ?? [])]
    for (const label in labels) {
      const keys = index.get(`${label}=${labels[label]}`)
      if (keys !== undefined) found.push(...keys)
    }
    return found
  }

  *inNamespace(namespace: string): Iterable<string> {
    for (const keys of this.#byNamespace.get(namespace)?.values() ?? []) yield* keys
  }
}

function termOf(selector: LabelSelector | undefined): string {
  const matchLabels = selector?.matchLabels
  for (const label in matchLabels) return `${label}=${matchLabels[label]}`
  return ''
}

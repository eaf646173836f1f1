// Pods of one workload say the same of themselves. What they have in common is kept once: of 150,000 pods little more than their
// names and nodes is left.

import type { Pod } from '../api/kube.ts'

export class SharedParts {
  readonly #known = new Map<string, unknown>()

  pod(pod: Pod): Pod {
    const { labels, ownerReferences } = pod.metadata
    const { nodeName, ...template } = pod.spec
    const conditions = pod.status?.conditions
    return {
      metadata: {
        ...pod.metadata,
        ...(labels && { labels: this.#one(labels) }),
        ...(ownerReferences && { ownerReferences: this.#one(ownerReferences) }),
      },
      spec: { ...this.#one(template), ...(nodeName !== undefined && { nodeName }) },
      ...(pod.status && { status: { ...pod.status, ...(conditions && { conditions: this.#one(conditions) }) } }),
    }
  }

  #one<T>(part: T): T {
    const text = JSON.stringify(part)
    const known = this.#known.get(text)
    if (known !== undefined) return known as T
    this.#known.set(text, part)
    return part
  }
}

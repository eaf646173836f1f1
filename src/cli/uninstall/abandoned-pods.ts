// Pods on nodes whose kubelet does not answer: deleted they would stay for ever, and hold up whoever waits for their end.

import { nodes, type Pod, pods } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { isReady } from '../../core/node/node-facts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import { listAll } from '../read-cluster.ts'

const lookEveryMs = 10_000

/** Takes them out of the cluster; what ran there has lost its rights, or does soon. */
export class AbandonedPods {
  readonly #api: KubeApi
  readonly #clock: Clock
  #ready: ReadonlySet<string> = new Set()
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(api: KubeApi, clock: Clock) {
    this.#api = api
    this.#clock = clock
  }

  /** Of those that are being deleted. */
  async remove(left: readonly Pod[], signal: AbortSignal): Promise<void> {
    const ending = left.filter(({ metadata, spec }) => metadata.deletionTimestamp && spec.nodeName)
    if (ending.length === 0) return
    await this.#look(signal)
    for (const { metadata, spec } of ending) {
      if (this.#ready.has(spec.nodeName ?? '')) continue
      const { name, namespace = '' } = metadata
      try {
        await this.#api.delete(pods, { name, namespace }, { gracePeriodSeconds: 0 }, signal)
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) throw error
      }
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (this.#clock.monotonicMs() < this.#lookedMs + lookEveryMs) return
    this.#lookedMs = this.#clock.monotonicMs()
    const { items } = await listAll(this.#api, nodes, {}, signal)
    this.#ready = new Set(items.filter(isReady).map(({ metadata }) => metadata.name))
  }
}

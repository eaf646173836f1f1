// The operator among the pods it drains: its replicas go last, after the lease went to one elsewhere; where no other node
// can take them they stay, like DaemonSet pods. So one-node and one-plus-one clusters finish.

import type { Pod } from '../../api/kube.ts'
import { couldRun } from '../../core/node/node-facts.ts'
import type { Cluster } from '../cluster/cluster.ts'

export class OwnPods {
  readonly #cluster: Cluster
  readonly #podName: string | undefined
  readonly #namespace: string
  readonly #stepDown: () => Promise<void>

  constructor(options: {
    readonly cluster: Cluster
    readonly podName: string | undefined
    readonly namespace: string
    readonly stepDown: () => Promise<void>
  }) {
    this.#cluster = options.cluster
    this.#podName = options.podName
    this.#namespace = options.namespace
    this.#stepDown = options.stepDown
  }

  isOwn({ metadata }: Pod): boolean {
    return (
      metadata.namespace === this.#namespace &&
      metadata.labels?.['app.kubernetes.io/name'] === 'slipway' &&
      metadata.labels['app.kubernetes.io/component'] === 'operator'
    )
  }

  isSelf(pod: Pod): boolean {
    return this.isOwn(pod) && pod.metadata.name === this.#podName
  }

  fate(pod: Pod, node: string): 'moves' | 'stays' | undefined {
    if (!this.isOwn(pod)) return undefined
    for (const other of this.#cluster.nodes.values()) {
      if (other.metadata.name !== node && couldRun(other, pod)) return 'moves'
    }
    return 'stays'
  }

  /** Whether another replica is ready on another node. */
  replicaElsewhere(node: string): boolean {
    for (const { metadata, spec, status } of this.#cluster.operatorPods.values()) {
      const ready = status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True')
      const gone = metadata.deletionTimestamp !== undefined
      if (
        ready &&
        !gone &&
        spec.nodeName !== undefined &&
        spec.nodeName !== node &&
        this.#cluster.isReady(spec.nodeName)
      )
        return true
    }
    return false
  }

  async handOver(): Promise<void> {
    await this.#stepDown()
  }
}

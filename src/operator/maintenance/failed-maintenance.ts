// Nodes whose maintenance failed or needs a person, by what their NodeStates say: a leader that has just started must not let
// others go because it has not looked at these yet. Kept up to date change by change, since every claim of a pass asks.

import type { NodeState, Rollout } from '../../api/node-state.ts'
import { isAborted } from '../../core/node/drain-node.ts'
import { isBroken } from '../../core/update/retry.ts'
import type { Cluster } from '../cluster/cluster.ts'

export class FailedMaintenance {
  readonly #cluster: Cluster
  readonly #isWanted: (operation: string) => boolean
  /** By node: the operation that failed there. */
  readonly #failed = new Map<string, string>()

  /** `isWanted`: whether what failed is still asked for. */
  constructor(cluster: Cluster, isWanted: (operation: string) => boolean) {
    this.#cluster = cluster
    this.#isWanted = isWanted
    for (const state of cluster.states.values()) this.#note(state.metadata.name, state)
    cluster.states.subscribe(({ key, type, object }) => this.#note(key, type === 'removed' ? undefined : object))
  }

  /** The first there is, other than this node. */
  besides(name: string): string | undefined {
    for (const [node, operation] of this.#failed) {
      if (node !== name && this.#cluster.nodes.get(node) && this.#isWanted(operation)) return node
    }
    return undefined
  }

  #note(name: string, state: NodeState | undefined): void {
    const rollout = state?.status?.rollout
    const hasFailed = rollout?.kind === 'Maintenance' && isBroken(rollout.phase) && !isUntouched(rollout)
    if (hasFailed) this.#failed.set(name, rollout.operationID)
    else this.#failed.delete(name)
  }
}

/** A drain that was given up ran nothing there; nor was anything begun where an agent is silent that was to stage. */
function isUntouched(rollout: Rollout): boolean {
  return isAborted(rollout) || (rollout.phase === 'RequiresAttention' && rollout.cordon === undefined)
}

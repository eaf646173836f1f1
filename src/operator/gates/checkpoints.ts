// Where gates are asked: before a node, after it, after a wave and while it soaks. The answer is at once what is known; who
// asked is woken when it changes.

import type { GatePoint, GateStatus } from '../../api/gate.ts'
import type { Rollout } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { GateVerdict } from '../../core/gates/decide-gate.ts'
import { type Operation, ownerOfOperation } from '../../core/update/operation.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Gates, recordedSince } from './gates.ts'

export interface CheckpointWakes {
  readonly grants: () => void
  readonly node: (node: string) => void
  readonly owner: (owner: string) => void
}

export class Checkpoints {
  readonly #gates: Gates
  readonly #cluster: Cluster
  readonly #wakes: CheckpointWakes

  constructor(gates: Gates, cluster: Cluster, wakes: CheckpointWakes) {
    this.#gates = gates
    this.#cluster = cluster
    this.#wakes = wakes
  }

  /** Why the node may not be taken now. Ask it last, when nothing else stands in the way: the answer must be fresh. */
  beforeNode(operation: Operation, node: string): Reason | undefined {
    const verdict = this.#ask(operation, 'BeforeNode', { node }, () => {
      this.#wakes.grants()
      this.#wakes.owner(ownerOfOperation(operation.id))
    })
    return verdict.state === 'passed' ? undefined : verdict.reason
  }

  /** Whether a node that is done and healthy may count as done; it stays cordoned until then. */
  afterNode(operation: Operation, node: string, rollout: Rollout): GateVerdict {
    const { reason, attempt } = rollout
    const since = reason?.code === 'GateWaiting' ? reason.since : undefined
    return this.#gates.verdict({
      gates: operation.gates ?? [],
      when: 'AfterNode',
      operation: operation.id,
      update: operation.update,
      node,
      attempt,
      since: () => since,
      wake: () => this.#wakes.node(node),
    })
  }

  /** Whether the wave (from 0) may be left behind. Its owner is woken when the answer changes. */
  afterWave(operation: Operation, wave: number): GateVerdict {
    return this.#ask(operation, 'AfterWave', { wave }, () => this.#wakeOwner(operation))
  }

  /**
   * Whether all is well while the wave soaks; ask it during the whole soak, a failure stops the promotion. From its end on
   * (`soakedAt`) only a look counts that was begun then.
   */
  soak(operation: Operation, wave: number, soakedAt: string | undefined): GateVerdict {
    return this.#ask(operation, 'Soak', { wave }, () => this.#wakeOwner(operation), soakedAt)
  }

  /** Those that do not hold now, for the status of the operation's owner. */
  standing(operation: string): readonly GateStatus[] {
    return this.#gates.standing(operation)
  }

  #wakeOwner({ id }: Operation): void {
    this.#wakes.owner(ownerOfOperation(id))
    this.#wakes.grants()
  }

  #ask(
    operation: Operation,
    when: GatePoint,
    about: { readonly node?: string; readonly wave?: number },
    wake: () => void,
    notBefore?: string,
  ): GateVerdict {
    const { gates = [], id, update } = operation
    if (!gates.some((gate) => gate.when === when)) return { state: 'passed' }
    const recorded = this.#cluster.updates.get(ownerOfOperation(id))?.status?.gates
    return this.#gates.verdict({
      gates,
      when,
      operation: id,
      update,
      ...about,
      since: recordedSince(recorded, when, about),
      notBefore,
      wake,
    })
  }
}

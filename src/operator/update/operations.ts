// The operations the leader knows. Whether one is still wanted is read off its DirectUpdate each time, never remembered:
// a leader that has just started must not take an operation for gone because it has not looked at it yet.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { ResolvedImage } from '../../api/os-image.ts'
import type { Reason } from '../../api/reason.ts'
import type { VersionPath } from '../../api/version-path.ts'
import type { Work } from '../../api/work.ts'
import { resolvedFor } from '../../core/image/resolved-image.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { holdOf } from '../../core/node/node-marks.ts'
import { operationOfOrder } from '../../core/node/order.ts'
import {
  isEndedPhase,
  type Operation,
  operationID,
  operationOf,
  ownerOfOperation,
  runOf,
} from '../../core/update/operation.ts'
import { pathStepOf } from '../../core/update/path-step.ts'
import { isBroken } from '../../core/update/retry.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Hours } from '../ledger/opening-hours.ts'
import type { OperationSource } from './operation-source.ts'
import type { RunningOperation } from './running-operation.ts'
import { stagingTurn } from './staging-turn.ts'
import { hoursOf, updateHours } from './terms.ts'

interface Known {
  readonly update: DirectUpdate
  readonly policy: MaintenancePolicy | undefined
  readonly operation: Operation
}

/** What an update came to when it was planned: versions and images that its words only point at. */
export interface LookedUp {
  readonly path?: VersionPath | undefined
  readonly osImage?: ResolvedImage | undefined
}

export class Operations {
  readonly #cluster: Cluster
  readonly #namespace: string
  readonly #running = new Map<string, RunningOperation>()
  /** Updates whose plan was refused, and that a change in the cluster may make possible. */
  readonly #awaiting = new Set<string>()
  /** Updates that are being deleted and wait for their nodes. */
  readonly leaving = new Set<string>()
  readonly #known = new Map<string, Known>()
  readonly #sources: OperationSource[] = []

  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster
    this.#namespace = namespace
  }

  /** From now on its operations are known, too. */
  addSource(source: OperationSource): void {
    this.#sources.push(source)
  }

  get(owner: string): RunningOperation | undefined {
    return this.#running.get(owner)
  }

  /** By age: the oldest asks first. */
  running(): readonly RunningOperation[] {
    if (this.#running.size < 2) return [...this.#running.values()]
    return [...this.#running.values()].sort(
      (a, b) => a.startedAt.getTime() - b.startedAt.getTime() || (a.id < b.id ? -1 : 1),
    )
  }

  get awaiting(): ReadonlySet<string> {
    return this.#awaiting
  }

  add(operation: RunningOperation): void {
    this.#running.set(operation.owner, operation)
    this.#awaiting.delete(operation.owner)
  }

  /** It takes no more nodes. `waits`: a change in the cluster may start it again. */
  remove(update: string, waits: boolean): void {
    this.#running.delete(update)
    if (waits) this.#awaiting.add(update)
    else this.#awaiting.delete(update)
    if (this.#cluster.updates.get(update)) return
    this.#known.delete(update)
    this.leaving.delete(update)
  }

  /**
   * The operation that wants a node without a slot to stage, or for which it has and should keep what it has. `shut`: why nothing
   * of one may begin now, by the policy.
   */
  stagingOn(
    node: string,
    { spec, status }: NodeState,
    shut: (operation: RunningOperation) => Reason | undefined,
  ): Operation | undefined {
    const [first] = stagingTurn(this.#wantingStaged(node), shut)
    if (first) return first.operation
    // What could not be staged says so until it is tried again or not wanted any more.
    const { rollout } = status ?? {}
    if (rollout && isBroken(rollout.phase)) {
      const operation = this.operation(rollout.operationID)
      // Nothing was begun there: a person who cancels has nothing to put right.
      const isUntouched = rollout.phase === 'RequiresAttention' && rollout.cordon === undefined
      return isUntouched && operation?.cancel !== undefined ? undefined : operation
    }
    if (spec.order?.desired !== 'Stage') return undefined
    const id = operationOfOrder(spec.order)
    // A leader that has just started does not know yet who wants what: what was staged for one that is to go on stays.
    return this.#running.get(ownerOfOperation(id))?.id === id ? undefined : this.#unfinished(id)
  }

  *#wantingStaged(node: string): Generator<RunningOperation> {
    for (const operation of this.running()) if (operation.wantsStaged(node)) yield operation
  }

  /** Whether an operation other than the holder would take the node over now, cordoned and drained as it is. */
  hasSuccessor(node: string, holder: string): boolean {
    const { policy, nodes } = this.#cluster
    const known = nodes.get(node)
    if (!known || holdOf(known) !== undefined || policy?.spec.paused) return false
    return this.running().some((operation) => operation.id !== holder && operation.wouldTake(node))
  }

  /** What an operation asks of one node. */
  workFor(operation: Operation, node: string): Work {
    const source = this.#sources.find(({ prefix }) => operation.id.startsWith(prefix))
    const asked = source?.workFor?.(operation, node)
    if (asked) return asked
    const running = this.#running.get(ownerOfOperation(operation.id))
    return running?.id === operation.id ? running.workFor(node) : operation.work
  }

  /** The operation of that id, if it still is what its update wants. */
  operation(id: string): Operation | undefined {
    const source = this.#sources.find(({ prefix }) => id.startsWith(prefix))
    if (source) return source.operation(id)
    const update = this.#cluster.updates.get(ownerOfOperation(id))
    if (!update || update.metadata.deletionTimestamp !== undefined) return undefined
    const operation = this.of(update)
    return operation.id === id ? operation : undefined
  }

  /** When what was begun of it may go on, read off the same; undefined where it is gone, or may at any time. */
  hoursOf(id: string): Hours | undefined {
    const operation = this.operation(id)
    const update = operation?.kind === undefined ? this.#cluster.updates.get(ownerOfOperation(id)) : undefined
    return operation && hoursOf(operation, update ? updateHours(update, operation) : {})
  }

  /** The same, if it has not come to its end and is not about to. */
  #unfinished(id: string): Operation | undefined {
    const phase = this.#cluster.updates.get(ownerOfOperation(id))?.status?.phase
    const operation = isEndedPhase(phase) ? undefined : this.operation(id)
    return operation?.cancel === undefined ? operation : undefined
  }

  /** What it will be once what was looked up is on record. */
  resolved(update: DirectUpdate, run: string, { path, osImage }: LookedUp): Operation {
    const status = { ...update.status, operationID: run, path, osImage }
    return operationOf({ ...update, status }, this.#cluster.policy, this.#namespace)
  }

  of(update: DirectUpdate): Operation {
    const { policy } = this.#cluster
    const { name } = update.metadata
    const known = this.#known.get(name)
    if (known?.update === update && known.policy === policy) return known.operation
    const operation =
      known &&
      known.policy?.spec === policy?.spec &&
      known.update.spec === update.spec &&
      isSameStep(update, known.operation) &&
      known.operation.osImage?.digest === resolvedFor(update, runOf(known.operation))?.digest &&
      (isUnderWay(update, known.operation) || runOf(known.operation) === operationID(update))
        ? known.operation
        : operationOf(update, policy, this.#namespace)
    this.#known.set(name, { update, policy, operation })
    return operation
  }
}

/** Then its run cannot have changed with its status alone. */
function isUnderWay({ status }: DirectUpdate, operation: Operation): boolean {
  return status?.operationID === runOf(operation) && !isEndedPhase(status.phase)
}

/** Its version, and which step of its path it is, come from the status. */
function isSameStep(update: DirectUpdate, operation: Operation): boolean {
  return equalJson(pathStepOf(update, runOf(operation)), operation.step)
}

// The operations of maintenance: one for each node that is to be emptied for something. Read off the API each time, never
// remembered.

import { type MaintenancePolicy, policyName } from '../../api/maintenance-policy.ts'
import { type WorkKind, workKinds } from '../../api/window.ts'
import type { Work } from '../../api/work.ts'
import { drainOf } from '../../core/drain/drain-policy.ts'
import { gatesOf } from '../../core/gates/gate.ts'
import { isStillWished, maintenancePrefix, type Wish, wishOf } from '../../core/maintenance/wish.ts'
import { holdOf, isPutBack } from '../../core/node/node-marks.ts'
import { atRest, belongsTo, isOutdated, lastWord, operationOfOrder } from '../../core/node/order.ts'
import { openPartOf, workKindsOf } from '../../core/time/work-kinds.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperationSource } from '../update/operation-source.ts'

/** Nobody knows how long somebody else's script takes: a person is called for long before, but nothing is cut short. */
const noHurry = '8760h'
const defaultTimeout = '1h'

export interface MaintenanceSourceOptions {
  readonly cluster: Cluster
  readonly namespace: string
  readonly isOpen: (kind: WorkKind) => boolean
  /** Whose slot the node has. */
  readonly holderOf: (node: string) => string | undefined
}

export class MaintenanceSource implements OperationSource {
  readonly prefix = maintenancePrefix
  readonly #cluster: Cluster
  readonly #options: MaintenanceSourceOptions

  constructor(options: MaintenanceSourceOptions) {
    this.#cluster = options.cluster
    this.#options = options
  }

  wish(name: string): Wish | undefined {
    const { policy, nodes, states } = this.#cluster
    const node = nodes.get(name)
    const state = states.get(name)
    return policy && node && state && wishOf(policy, node, state, this.#options.namespace)
  }

  operation(id: string): Operation | undefined {
    const name = nodeOfMaintenance(id)
    const work = this.#workOf(id, name)
    return work && operationOfMaintenance(id, work, this.#cluster.policy)
  }

  /** As it is now: the operation that runs may not have been looked at since a window opened or closed. */
  workFor({ id, work }: Operation, node: string): Work {
    return this.#workOf(id, node) ?? work
  }

  /** What the node fetched, or is about to, is for other work than may be done now. */
  isOutdated(name: string): boolean {
    const { order } = this.#cluster.states.get(name)?.spec ?? {}
    if (order?.kind !== 'Maintenance') return false
    const work = this.#workOf(operationOfOrder(order), name)
    return work !== undefined && isOutdated(order, work)
  }

  /** Tells of an operation whether windows or a hold keep it from its node at this instant. */
  shutNow(): (operation: Operation) => boolean {
    const shut = new Set(workKinds.filter((kind) => !this.#options.isOpen(kind)))
    return (operation) => {
      const node = this.#cluster.nodes.get(nodeOfMaintenance(operation.id))
      return workKindsOf(operation).some((kind) => shut.has(kind)) || (node !== undefined && holdOf(node) !== undefined)
    }
  }

  /** An order that may run stands as it is; before that the node is emptied for all that is wished by then. */
  #workOf(id: string, name: string): Work | undefined {
    const state = this.#cluster.states.get(name)
    const wish = this.wish(name)
    const { order } = state?.spec ?? {}
    const rollout = state?.status?.rollout
    const hasFailed = rollout?.operationID === id && rollout.phase === 'Failed'
    if (order && belongsTo(order, id)) {
      const isUnderWay = order.desired !== 'Stage' && !hasFailed
      // What failed after its work was done, at a gate, asks for nothing any more, and is not fit until a person has put it back.
      const isDone = state && lastWord(order, state)?.state === 'Succeeded'
      const isKept = isDone && !(hasFailed && this.#isReleased(id, name))
      if (isUnderWay || isKept) return order.work
      if (!wish || !isStillWished(order.work, wish)) return undefined
      return hasFailed ? order.work : this.#stagedWork(id, order.work, wish)
    }
    // Being emptied under this name already; else a name is good for its own wish only.
    const isBegun = rollout?.operationID === id && !hasFailed && !atRest.has(rollout.phase)
    return wish && (isBegun || wish.id === id) ? openPartOf(wish.work, this.#options.isOpen) : undefined
  }

  /** What was fetched may wait for days: the reboot is as windows are when it is used, not as they were then. */
  #stagedWork(id: string, staged: Work, { id: wished, work }: Wish): Work {
    const { reboot: _then, ...rest } = staged
    const asked = wished === id ? work : { ...rest, ...(work.reboot && { reboot: work.reboot }) }
    return openPartOf(asked, this.#options.isOpen)
  }

  /** Put back by a person, and its slot has been returned. */
  #isReleased(id: string, name: string): boolean {
    const node = this.#cluster.nodes.get(name)
    return node !== undefined && isPutBack(node) && this.#options.holderOf(name) !== id
  }
}

/** Of an operation's id, or of its owner's name. */
export function nodeOfMaintenance(id: string): string {
  return id.slice(maintenancePrefix.length).split('/')[0] ?? ''
}

function operationOfMaintenance(id: string, work: Work, policy: MaintenancePolicy | undefined): Operation {
  return {
    id,
    kind: 'Maintenance',
    update: policyName,
    work,
    disruption: 'Drain',
    rollback: 'Never',
    nodeTimeout: policy?.spec.maintenance?.timeout ?? defaultTimeout,
    ...(work.maintenance && { orderTimeout: noHurry }),
    drain: drainOf(policy?.spec.drain),
    gates: gatesOf(policy?.spec.gates),
  }
}

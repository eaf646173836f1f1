// What we left where nothing of ours works any more. A look at the node puts it right, unless it says whom that waits for.

import type { Node } from '../../api/kube.ts'
import type { Grant } from '../../api/maintenance-policy.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { cordonOwner } from '../node/node-facts.ts'
import { isPutBack } from '../node/node-marks.ts'
import { atRest, hasStopped, operationOfOrder } from '../node/order.ts'

export interface Traces {
  readonly node: Node
  readonly state: NodeState | undefined
  readonly grant: Grant | undefined
  /** Whether the operation still is wanted. */
  readonly isWanted: (operation: string) => boolean
}

export function leftoverOf(traces: Traces): Reason | undefined {
  return traces.grant ? underSlot(traces, traces.grant) : withoutSlot(traces)
}

function underSlot({ node, state, isWanted }: Traces, { holder }: Grant): Reason | undefined {
  const { name } = node.metadata
  if (isWanted(holder)) return undefined
  const { order } = state?.spec ?? {}
  const runs = order && state && !hasStopped(order, state) && operationOfOrder(order) === holder
  const waits = runs ? `the agent has not said yet that order ${order.id} has ended` : 'it is being put back'
  return leftBehind(`${name} is held for ${holder}, which is gone; ${waits}`)
}

function withoutSlot({ node, state, isWanted }: Traces): Reason | undefined {
  const { name } = node.metadata
  const { order } = state?.spec ?? {}
  if (order && state && !hasStopped(order, state))
    return leftBehind(`order ${order.id} may run on ${name} without a slot`)
  if (!isPutBack(node)) {
    return leftBehind(`${name} carries the cordon or marks of ${cordonOwner(node) ?? 'ours'}, and nothing works there`)
  }
  const rollout = state?.status?.rollout
  if (rollout && !atRest.has(rollout.phase) && !isWanted(rollout.operationID)) {
    return leftBehind(`${name} still tells of ${rollout.operationID}, which is gone`)
  }
  if (order?.desired === 'Stage' && !isWanted(operationOfOrder(order))) {
    return leftBehind(`${name} has staged for ${operationOfOrder(order)}, which is gone`)
  }
  return undefined
}

function leftBehind(message: string): Reason {
  return { code: 'LeftBehind', message }
}

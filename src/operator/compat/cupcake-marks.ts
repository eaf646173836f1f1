// What CUPCAKE writes on the nodes it works on. After the work the marks stay as they are, as its document says; one that says
// `pending` for an operation that is no more says nothing true, and goes.

import { cupcakeNodeMarks as keys } from '../../api/cupcake.ts'
import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { componentsOf } from '../../core/update/drivers-for.ts'
import { presentID } from '../../core/update/path-step.ts'
import { cupcakeOperationID } from './cupcake-direct-status.ts'

export type MarkStatus = 'pending' | 'completed' | 'failed'

export type Marks = Readonly<Record<string, string | null>>

/** The marks of a node for this operation; undefined where it is none of its nodes, or has not begun. */
export function marksOf(update: DirectUpdate, node: Node, state: NodeState | undefined): Marks | undefined {
  const { operationID, path } = update.status ?? {}
  const version = path?.steps?.[path.step ?? 0] ?? path?.target ?? update.spec.kubernetes?.version ?? ''
  const rollout = state?.status?.rollout
  if (operationID === undefined || rollout?.operationID !== presentID({ operationID, ...(path && { path }) }))
    return undefined
  const operation = cupcakeOperationID(operationID)
  const isMarked = node.metadata.annotations?.[keys.operation] === operation
  const status = isTriedAgain(update, rollout, node) ? 'pending' : statusOf(rollout.phase, isMarked)
  if (!status) return undefined
  const { kubernetes } = update.spec
  return {
    [keys.operation]: operation,
    [keys.version]: version.replace(/^v/, ''),
    [keys.components]: (kubernetes ? componentsOf(kubernetes) : []).join(','),
    [keys.status]: status,
  }
}

/** A person asked for that, and the node has not been taken up yet. */
export function isTriedAgain({ spec }: DirectUpdate, { phase, retried }: Rollout, { metadata }: Node): boolean {
  const { retry } = spec
  if (phase !== 'Failed' || !retry || retry.token === retried) return false
  return retry.nodes === undefined || retry.nodes.includes(metadata.name)
}

function statusOf(phase: Rollout['phase'], isMarked: boolean): MarkStatus | undefined {
  switch (phase) {
    case 'Pending':
    case 'Staging':
      // Tried again after it failed.
      return isMarked ? 'pending' : undefined
    case 'Done':
      return 'completed'
    case 'Failed':
      return 'failed'
    case 'Draining':
    case 'Assigned':
    case 'Working':
    case 'Verifying':
    case 'RequiresAttention':
      return 'pending'
  }
}

/** What has to be written for these marks to stand there; undefined for nothing. */
export function markChange(node: Node, marks: Marks): Marks | undefined {
  const differing = Object.entries(marks).filter(([key, value]) => (node.metadata.annotations?.[key] ?? null) !== value)
  return differing.length > 0 ? Object.fromEntries(differing) : undefined
}

/** Takes the marks off a node that waits for an operation nobody carries out there any more. */
export function staleMarks(node: Node, isUnderWay: (operation: string) => boolean): Marks | undefined {
  const { annotations = {} } = node.metadata
  const operation = annotations[keys.operation]
  if (operation === undefined || annotations[keys.status] !== 'pending' || isUnderWay(operation)) return undefined
  return Object.fromEntries(Object.values(keys).flatMap((key) => (key in annotations ? [[key, null]] : [])))
}

export function markedStatus({ metadata }: Node): string | undefined {
  return metadata.annotations?.[keys.status]
}

import { type DirectUpdate, workFields } from '../../api/direct-update.ts'
import { selects } from '../../core/label-selector.ts'
import { operationOf } from '../../core/update/operation.ts'
import { isLastStep, presentID } from '../../core/update/path-step.ts'
import { isAtTarget, standingOf } from '../../core/update/standing.ts'
import type { NodeFacts } from './node-facts.ts'

/** Whether an update that selects the node has still to come to it, by the operator's own judgement. */
export function turnOf(update: DirectUpdate, facts: NodeFacts): 'comes' | 'joined too late' | 'none' {
  const { startedAt } = update.status ?? {}
  if (comes(update, facts, startedAt === undefined ? undefined : Date.parse(startedAt))) return 'comes'
  return comes(update, facts, undefined) ? 'joined too late' : 'none'
}

/** Whether another update has begun since that does all this one does: then nobody tries this one again. */
export function isOvertaken({ spec, status }: DirectUpdate, updates: readonly DirectUpdate[]): boolean {
  const begunMs = Date.parse(status?.startedAt ?? '')
  return updates.some((other) => {
    if (!(Date.parse(other.status?.startedAt ?? '') > begunMs)) return false
    return workFields.every((kind) => spec[kind] === undefined || other.spec[kind] !== undefined)
  })
}

function comes(update: DirectUpdate, { node, state, policy }: NodeFacts, joinedByMs: number | undefined): boolean {
  const { spec, status } = update
  const known = operationOf(update, policy, '')
  const operation = status?.operationID === undefined ? known : { ...known, id: presentID(status) }
  const grant = policy?.status?.ledger?.grants.find((entry) => entry.node === node.metadata.name)
  const standing = standingOf(node, state, {
    operation,
    held: grant?.holder === operation.id,
    isMember: ({ metadata }) => selects(spec.nodeSelector, metadata.labels),
    isDone: (one, its) => isAtTarget(operation, one, its),
    joinedByMs,
  })
  // Whoever is through with one step of a path has the next before it.
  const isThrough = standing === 'done' || standing === 'skipped'
  return standing === 'waiting' || (isThrough && !isLastStep(operation.step))
}

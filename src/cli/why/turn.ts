import { type DirectUpdate, type DirectUpdateSpec, workFields } from '../../api/direct-update.ts'
import { selects } from '../../core/label-selector.ts'
import { equalJson } from '../../core/merge-patch.ts'
import { operationOf } from '../../core/update/operation.ts'
import { refusal } from '../../core/update/outcome.ts'
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
    if (!(Date.parse(other.status?.startedAt ?? '') > begunMs) || !hasBegun(other)) return false
    return workFields.every((kind) => spec[kind] === undefined || doesAsMuch(kind, other.spec, spec))
  })
}

/** A plan, one that was called off and one that was refused brought nothing to any node. */
function hasBegun(update: DirectUpdate): boolean {
  const phase = update.status?.phase
  return phase !== 'Planned' && phase !== 'Cancelled' && refusal(update) === undefined
}

/** Of versions, images and reboots the later wish counts; of anything else only the same again takes its place. */
function doesAsMuch(kind: (typeof workFields)[number], later: DirectUpdateSpec, spec: DirectUpdateSpec): boolean {
  if (later[kind] === undefined) return false
  if (kind === 'kubernetes' || kind === 'reboot') return true
  return equalJson(placeOf(kind, later), placeOf(kind, spec))
}

/** What a wish is about, without the version of it. */
function placeOf(kind: (typeof workFields)[number], spec: DirectUpdateSpec): unknown {
  if (kind === 'os' && spec.os?.image !== undefined) return { ...spec.os, image: 'any', verify: undefined }
  if (kind === 'binary') return spec.binary?.path
  return spec[kind]
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

// Where a DirectUpdate is in its life, by what its status says.

import type { DirectUpdate } from '../../api/direct-update.ts'
import { isEndedPhase, isRetryOpen } from '../../core/update/operation.ts'

export function isPlanned({ status }: DirectUpdate): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Planned' && holds === 'True') ?? false
}

/** This run of it was let begin, and what it was to be is on record. */
export function isUnderWay(update: DirectUpdate, run: string): boolean {
  return update.status?.operationID === run && isPlanned(update)
}

/** A failed one goes on when a person asks for that. */
export function isOver({ spec, status }: DirectUpdate, run: string): boolean {
  if (status?.operationID !== run || !isEndedPhase(status.phase)) return false
  return !(status.phase === 'Failed' && isRetryOpen({ spec, status }))
}

/**
 * Nodes that join after this are not part of the operation. The first one starts with the update's creation, an instant of
 * the API server's clock as the nodes' own are: ours may be off. A later one starts when its edit is seen.
 */
export function startOf({ metadata, status }: DirectUpdate, now: Date): Date {
  const created = new Date(metadata.creationTimestamp)
  return status?.operationID === undefined || now < created ? created : now
}

// Which of the nodes that have staged ask for a slot, and in which order. A node that nobody can tell the work of asks only to
// say what it waits for.

import type { Reason } from '../../api/reason.ts'
import type { Request } from '../../core/ledger/grants.ts'
import type { MemberTable } from './member-table.ts'

type ObstacleOf = (node: string) => Reason | undefined

/** Strictly in turn: the first that has not staged keeps all others. */
export function* stagedInTurn(table: MemberTable, obstacleOf: ObstacleOf): Generator<Request> {
  for (const request of table.candidates()) {
    const obstacle = obstacleOf(request.node)
    if (!obstacle && !table.hasStaged(request.node)) return
    yield { ...request, obstacle }
  }
}

/** Who has staged goes; one with an obstacle keeps no other and comes last. */
export function* stagedFirst(table: MemberTable, obstacleOf: ObstacleOf): Generator<Request> {
  let kept: Request | undefined
  for (const request of table.staged()) {
    const obstacle = obstacleOf(request.node)
    if (obstacle) kept ??= { ...request, obstacle }
    else yield request
  }
  kept ??= nextUnstaged(table, obstacleOf)
  if (kept) yield kept
}

/** Those that can stage do so in turn: if one was passed over, it is the first that has not. */
function nextUnstaged(table: MemberTable, obstacleOf: ObstacleOf): Request | undefined {
  for (const request of table.candidates()) {
    if (table.isStaging(request.node)) continue
    const obstacle = obstacleOf(request.node)
    return obstacle && { ...request, obstacle }
  }
  return undefined
}

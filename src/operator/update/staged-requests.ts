// Which of the nodes that have staged ask for a slot, and in which order. A node that nobody can tell the work of asks only to
// say what it waits for; so does one that cannot stage, since somebody else keeps it.

import type { Reason } from '../../api/reason.ts'
import type { Request } from '../../core/ledger/grants.ts'
import type { MemberTable } from './member-table.ts'

type ReasonOf = (node: string) => Reason | undefined

export interface Obstacles {
  /** By the operation's own judgement. */
  readonly own: ReasonOf
  /** Why the node is passed over, whether it has staged or not. */
  readonly passedOver: ReasonOf
}

/** Strictly in turn: the first that could go and has not staged keeps all others. */
export function* stagedInTurn(table: MemberTable, { own, passedOver }: Obstacles): Generator<Request> {
  let kept: Request | undefined
  for (const request of table.candidates()) {
    const obstacle = own(request.node)
    if (obstacle || table.hasStaged(request.node)) {
      yield { ...request, obstacle }
      continue
    }
    const reason = passedOver(request.node)
    if (!reason) return
    kept ??= { ...request, obstacle: reason }
  }
  if (kept) yield kept
}

/** Who has staged goes; one with an obstacle keeps no other and comes last, and says nothing while another still fetches. */
export function* stagedFirst(table: MemberTable, obstacles: Obstacles): Generator<Request> {
  let kept: Request | undefined
  for (const request of table.staged()) {
    const obstacle = obstacles.own(request.node)
    if (obstacle) kept ??= { ...request, obstacle }
    else yield request
  }
  kept ??= nextUnstaged(table, obstacles)
  if (kept && !isFetching(table, obstacles)) yield kept
}

/** Also one that is about to be asked. */
function isFetching(table: MemberTable, { own, passedOver }: Obstacles): boolean {
  for (const { node } of table.candidates()) {
    if (!table.hasStaged(node) && !own(node) && !passedOver(node)) return true
  }
  return false
}

/** Those that can stage do so in turn: if one was passed over, it is the first that has not. */
function nextUnstaged(table: MemberTable, { own, passedOver }: Obstacles): Request | undefined {
  for (const request of table.candidates()) {
    if (table.isStaging(request.node)) continue
    const obstacle = own(request.node) ?? passedOver(request.node)
    return obstacle && { ...request, obstacle }
  }
  return undefined
}

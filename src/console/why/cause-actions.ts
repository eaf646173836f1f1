// What can be done about a cause from here. Everything else is in its command and its next step.

import { type ActionRequest, type CauseView, type NodeTile, namedAtMost } from '../../api/console.ts'
import { isBroken } from '../fleet/node-actions.ts'
import type { Confirmation } from '../parts/confirm-dialog.tsx'
import { goOnConfirmation } from '../parts/go-on-confirmation.ts'
import { skipConfirmation } from '../parts/skip-confirmation.ts'

export interface CauseAction {
  readonly label: string
  readonly request: ActionRequest
  readonly confirm?: Confirmation
}

const outOfTime = ['OutsideWindow', 'Frozen', 'WindowTooShort', 'WindowNeverOpens']

/** Those that wait are not those that failed, or the update failed as a whole. */
const retriedWhole = [
  ...['FailuresReached', 'FailedNodesInTheWay', 'NodesFailed'],
  ...['OperationTimedOut', 'HookFailed', 'BackupFailed'],
]

type Tiles = Readonly<Record<string, Pick<NodeTile, 'phase' | 'update'>>>

export function causeActions(cause: CauseView, tiles: Tiles): readonly CauseAction[] {
  const { code, waitsFor, nodes, updates, profiles } = cause
  // A person may have to act for nodes that only drain, and those cannot be tried again.
  const broken = nodes.some((node) => isBroken(tiles[node]))
  if (code === 'PolicyPaused') {
    return [{ label: 'Go on…', request: { action: 'go-on-all' }, confirm: goOnConfirmation('this cluster') }]
  }
  if (code === 'NodeOnHold' && nodes.length <= namedAtMost)
    return [{ label: 'Release', request: { action: 'release', nodes } }]
  const [update] = updates
  const [profile] = profiles
  if (update === undefined) return nodes.length === 0 ? [] : nodeActions(cause, profile, broken)
  if (code === 'ApprovalWanted') return [{ label: `Approve ${update}`, request: { action: 'approve', update } }]
  if (code === 'UpdatePaused') return [{ label: `Resume ${update}`, request: { action: 'resume', update } }]
  if (retriedWhole.includes(code)) return [{ label: `Retry ${update}`, request: { action: 'retry', update } }]
  if (outOfTime.includes(code)) return [runNow(update)]
  if (waitsFor === 'Clock' || /Budget(Spent|AllowsNothing)/.test(code) || nodes.length === 0) return []
  // Of so many the cause may not even know all; those that failed are tried again without their names.
  if (nodes.length > namedAtMost) {
    return broken ? [{ label: `Retry ${update}`, request: { action: 'retry', update } }] : []
  }
  // One budget may hold up nodes of several updates, and nodes that only drain beside one that failed.
  const own = nodes.filter((node) => tiles[node]?.update === update)
  const failed = own.filter((node) => isBroken(tiles[node]))
  const skip: CauseAction = {
    label: own.length > 1 ? 'Skip these nodes…' : 'Skip node…',
    request: { action: 'skip', update, nodes: own },
    confirm: skipConfirmation(update, own),
  }
  const retry: CauseAction = {
    label: failed.length > 1 ? 'Retry these nodes' : 'Retry node',
    request: { action: 'retry', update, nodes: failed },
  }
  return [failed.length > 0 ? retry : hold(nodes), ...(own.length > 0 ? [skip] : [])]
}

function hold(nodes: readonly string[]): CauseAction {
  return { label: nodes.length > 1 ? 'Hold these nodes' : 'Hold node', request: { action: 'hold', nodes } }
}

/** What no update wants of them, but a profile or their own maintenance; neither can leave a node out. */
function nodeActions(
  { code, waitsFor, nodes }: CauseView,
  profile: string | undefined,
  broken: boolean,
): readonly CauseAction[] {
  if (waitsFor === 'Clock' || /Budget(Spent|AllowsNothing)/.test(code)) return []
  const tooMany = nodes.length > namedAtMost
  if (profile !== undefined && ((tooMany && broken) || retriedWhole.includes(code)))
    return [{ label: `Retry ${profile}`, request: { action: 'retry-profile', profile } }]
  if (tooMany) return []
  if (!broken) return [hold(nodes)]
  const many = nodes.length > 1
  const release = {
    label: many ? 'Release these nodes' : 'Release node',
    request: { action: 'release', nodes },
  } as const
  if (profile === undefined) return [release]
  const label = many ? 'Retry these nodes' : 'Retry node'
  return [{ label, request: { action: 'retry-profile', profile, nodes } }, release]
}

function runNow(update: string): CauseAction {
  return {
    label: 'Run now…',
    request: { action: 'run-now', update },
    confirm: {
      title: `Run ${update} now?`,
      text: 'It goes on outside of its windows and in spite of freezes. Budgets, approvals and checks hold as before. The reason is kept with the update.',
      act: 'Run now',
      command: `slipway run-now ${update} --reason …`,
      asksReason: true,
    },
  }
}

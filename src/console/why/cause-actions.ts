// What can be done about a cause from here. Everything else is in its command and its next step.

import type { ActionRequest, CauseView } from '../../api/console.ts'
import type { Confirmation } from '../parts/confirm-dialog.tsx'

export interface CauseAction {
  readonly label: string
  readonly request: ActionRequest
  readonly confirm?: Confirmation
}

const outOfTime = ['OutsideWindow', 'Frozen', 'WindowTooShort', 'WindowNeverOpens']

export function causeActions({ code, waitsFor, nodes, updates }: CauseView): readonly CauseAction[] {
  if (code === 'PolicyPaused') return [{ label: 'Go on', request: { action: 'go-on-all' } }]
  if (code === 'NodeOnHold') return [{ label: 'Release', request: { action: 'release', nodes } }]
  const [update] = updates
  if (update === undefined) return []
  if (code === 'ApprovalWanted') return [{ label: `Approve ${update}`, request: { action: 'approve', update } }]
  if (code === 'UpdatePaused') return [{ label: `Resume ${update}`, request: { action: 'resume', update } }]
  // Those that wait are not those that failed.
  if (code === 'FailuresReached' || code === 'FailedNodesInTheWay')
    return [{ label: `Retry ${update}`, request: { action: 'retry', update } }]
  if (outOfTime.includes(code)) return [runNow(update)]
  if (waitsFor === 'Clock' || /Budget(Spent|AllowsNothing)/.test(code) || nodes.length === 0) return []
  const many = nodes.length > 1
  const skip = { label: many ? 'Skip these nodes' : 'Skip node', request: { action: 'skip', update, nodes } } as const
  if (waitsFor === 'Person') {
    return [{ label: many ? 'Retry these nodes' : 'Retry node', request: { action: 'retry', update, nodes } }, skip]
  }
  return [{ label: many ? 'Hold these nodes' : 'Hold node', request: { action: 'hold', nodes } }, skip]
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

// The hooks of one node: before it is touched, after it is healthy again, and what is owed when its work is over, however
// that ended.

import type { HookPoint } from '../../api/hook.ts'
import type { NodeState, Rollout } from '../../api/node-state.ts'
import { type CleanupStep, type HookStep, stepCleanups, stepHooks } from '../hooks/decide-hooks.ts'
import type { HookCall, HookOutcome } from '../hooks/hook-call.ts'
import type { Operation } from '../update/operation.ts'
import { enter } from './enter-phase.ts'
import type { NodeAction, NodeView } from './node-view.ts'

/** What must be done before the node may be touched; undefined when nothing is left. */
export function hooksBefore(view: NodeView, operation: Operation, begin: () => NodeAction): NodeAction | undefined {
  const { state } = view
  const rollout = state.status?.rollout
  const isBegun = rollout?.operationID === operation.id && rollout.phase === 'Pending'
  if (!isBegun) {
    return hooksAgain(view) ?? (operation.hooks?.some(({ when }) => when === 'BeforeNode') ? begin() : undefined)
  }
  const step = stepOf(view, operation, 'BeforeNode')
  return step.step === 'failed'
    ? enter(view, rollout, 'Failed', { reason: step.reason })
    : tell(view, rollout, 'Pending', step)
}

/** A new start begins with a clean sheet; undefined when it is. */
export function hooksAgain(view: NodeView): NodeAction | undefined {
  const { hooks: runs = [] } = view.state.spec
  return runs.length > 0 ? (cleanUp(view) ?? { action: 'setHooks', runs: [] }) : undefined
}

/** What must be done before a healthy node may count as done. */
export function hooksAfter(view: NodeView, operation: Operation, rollout: Rollout): NodeAction | undefined {
  const step = stepOf(view, operation, 'AfterNode')
  if (step.step === 'failed') return enter(view, rollout, 'Failed', { reason: step.reason })
  return tell(view, rollout, 'Verifying', step)
}

/** While one runs, the node says which. */
function tell(
  view: NodeView,
  rollout: Rollout,
  phase: Rollout['phase'],
  step: Exclude<HookStep, { readonly step: 'failed' }>,
): NodeAction | undefined {
  const isTold = step.step !== 'wait' || (rollout.phase === phase && rollout.reason?.message === step.reason.message)
  return isTold ? actionOf(step) : enter(view, rollout, phase, { reason: step.reason, unhurried: true })
}

/** What is owed for the node; undefined when nothing is. */
export function cleanUp({ state, hookOutcome, now }: CleanupView): NodeAction | undefined {
  const { hooks: runs = [] } = state.spec
  return actionOf(stepCleanups({ runs, node: state.metadata.name, outcomeOf: hookOutcome ?? unknown, now }))
}

interface CleanupView {
  readonly state: NodeState
  readonly hookOutcome?: ((call: HookCall) => HookOutcome | undefined) | undefined
  readonly now: Date
}

const unknown = () => undefined

function stepOf({ state, hookOutcome, now }: NodeView, operation: Operation, when: HookPoint): HookStep {
  return stepHooks({
    hooks: operation.hooks ?? [],
    when,
    operationID: operation.id,
    node: state.metadata.name,
    runs: state.spec.hooks ?? [],
    outcomeOf: hookOutcome ?? unknown,
    now,
  })
}

function actionOf(step: CleanupStep): NodeAction | undefined {
  switch (step.step) {
    case 'passed':
      return undefined
    case 'record':
      return { action: 'setHooks', runs: step.runs }
    case 'start':
      return { action: 'startHook', call: step.call }
    case 'wait':
      return { action: 'wait' }
  }
}

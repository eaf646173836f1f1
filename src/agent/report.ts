// What NodeState.status.agent.order says, made from the journal alone: after a restart the same words come out, so nothing is
// written again.

import type { AgentOrder, AgentStep } from '../api/node-state.ts'
import type { Reason } from '../api/reason.ts'
import type { Step } from './drivers/driver.ts'
import type { EndState, OrderFolder, StepRecord } from './journal/order-folder.ts'

const tailsTotal = 32 * 1024

export interface FailedStep {
  readonly index: number
  readonly finishedAt: Date
  readonly reason: Reason
  readonly logTail?: string
}

/** The order while it is under way: Accepted before its first step began, then Running. */
export function progressReport(folder: OrderFolder, steps: readonly Step[], state?: 'Staged'): AgentOrder {
  return report(folder, steps, { state: state ?? (hasBegun(folder) ? 'Running' : 'Accepted') })
}

export function hasBegun(folder: OrderFolder): boolean {
  return folder.steps.some((record) => record.begun || record.done)
}

export function endReport(
  folder: OrderFolder,
  steps: readonly Step[],
  end: {
    readonly state: EndState
    readonly finishedAt: Date
    readonly reason?: Reason
    /** The steps that failed: the work's, and the one that was to undo it. */
    readonly failed?: readonly FailedStep[]
    readonly rolledBack?: boolean
  },
): AgentOrder {
  return report(folder, steps, end)
}

/** An order that never got into the journal, or whose journal cannot be read. */
export function bareReport(
  id: string,
  state: 'Accepted' | 'Refused' | 'RequiresAttention',
  reason: Reason,
): AgentOrder {
  return { id, state, reason, steps: [] }
}

function report(
  folder: OrderFolder,
  steps: readonly Step[],
  outcome: {
    readonly state: AgentOrder['state']
    readonly finishedAt?: Date
    readonly reason?: Reason
    /** The steps that failed: the work's, and the one that was to undo it. */
    readonly failed?: readonly FailedStep[]
    readonly rolledBack?: boolean
  },
): AgentOrder {
  const { accepted, warnings } = folder
  const first = accepted.steps.length
  const { reason } = outcome
  const restartedAt = kubeletRestart(folder.steps, steps)
  return {
    id: accepted.order.id,
    state: outcome.state,
    acceptedAt: accepted.acceptedAt,
    ...(outcome.finishedAt && { finishedAt: outcome.finishedAt.toISOString() }),
    ...(restartedAt !== undefined && { kubeletRestartedAt: restartedAt }),
    ...(reason && { reason }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    ...(outcome.rolledBack && { rolledBack: true }),
    steps: boundTails(
      folder.names.flatMap((name, index) => {
        const record = folder.steps[index]
        const failed = outcome.failed?.find((step) => step.index === index)
        if (failed) return [failedStep(name, record, failed)]
        // What would take the work back is told of only when it does.
        if (index >= first && !record?.begun && !record?.done) return []
        return [stepReport(name, record, outcome.finishedAt !== undefined)]
      }),
    ),
  }
}

/** In an order that has ended, a step that was cut off and not run again is not running. */
function stepReport(name: string, record: StepRecord | undefined, ended: boolean): AgentStep {
  if (record?.done) {
    const { starts, startedAt, finishedAt, logTail } = record.done
    return {
      name,
      state: 'Succeeded',
      ...(startedAt !== undefined && { startedAt }),
      finishedAt,
      attempts: starts,
      ...(logTail !== undefined && { logTail }),
    }
  }
  if (record?.begun) {
    const { startedAt, starts } = record.begun
    return { name, state: ended ? 'Pending' : 'Running', startedAt, attempts: starts }
  }
  return { name, state: 'Pending', attempts: 0 }
}

function failedStep(name: string, record: StepRecord | undefined, failed: FailedStep): AgentStep {
  return {
    ...stepReport(name, record, true),
    state: 'Failed',
    finishedAt: failed.finishedAt.toISOString(),
    reason: failed.reason,
    ...(failed.logTail !== undefined && { logTail: failed.logTail }),
  }
}

/** When the last of the steps that restart the kubelet began. */
function kubeletRestart(records: readonly StepRecord[], steps: readonly Step[]): string | undefined {
  return steps
    .flatMap((step, index) => {
      const record = step.restartsKubelet === true ? records[index] : undefined
      return record?.done?.startedAt ?? record?.begun?.startedAt ?? []
    })
    .at(-1)
}

/** Objects are bounded: the tails of the latest steps are kept, earlier ones go when there is no room. */
function boundTails(steps: AgentStep[]): AgentStep[] {
  let room = tailsTotal
  return steps
    .toReversed()
    .map(({ logTail, ...step }) => {
      room -= logTail?.length ?? 0
      return logTail === undefined || room < 0 ? step : { ...step, logTail }
    })
    .toReversed()
}

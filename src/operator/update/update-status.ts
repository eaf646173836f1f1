// The status of a DirectUpdate, computed from where its operation stands. Bounded: counts, and fifty names at most.

import type { DirectUpdate, DirectUpdateStatus, UpdatePhase } from '../../api/direct-update.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Plan } from '../../core/plan/plan-update.ts'
import { conditionsOf, mergeConditions, phaseOf, summaryOf } from '../../core/update/progress.ts'
import type { RunningOperation } from './running-operation.ts'

const namesAtMost = 50

export type Refusal = Extract<Plan, { verdict: 'refused' }>

export function plannedStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  { path, preflight }: Pick<Extract<Plan, { verdict: 'planned' }>, 'path' | 'preflight'>,
  now: Date,
): DirectUpdateStatus {
  return {
    ...freshStatus(update, operation.id, operation.startedAt),
    ...(path && { path }),
    preflight: [...preflight],
    conditions: mergeConditions(
      update.status?.conditions ?? [],
      [{ type: 'Planned', status: 'True', reason: 'Planned', message: 'the update can be carried out' }],
      now.toISOString(),
      update.metadata.generation,
    ),
  }
}

export function refusedStatus(
  update: DirectUpdate,
  operationID: string,
  { reason, lasting, preflight }: Refusal,
  now: Date,
): DirectUpdateStatus {
  const phase: UpdatePhase = lasting ? 'Failed' : 'Pending'
  const at = now.toISOString()
  const say = (type: string, holds: boolean) => ({
    type,
    status: holds ? ('True' as const) : ('False' as const),
    reason: reason.code,
    message: reason.message,
  })
  return {
    ...freshStatus(update, operationID, now),
    phase,
    ...(preflight && { preflight: [...preflight] }),
    ...(lasting && { finishedAt: at }),
    conditions: mergeConditions(
      update.status?.conditions ?? [],
      [
        say('Planned', false),
        say('Progressing', false),
        say('Failed', lasting),
        say('Succeeded', false),
        say('Reconciling', !lasting),
        say('Stalled', true),
      ],
      at,
      update.metadata.generation,
    ),
  }
}

export function runningStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  stateOf: (node: string) => NodeState | undefined,
  now: Date,
): DirectUpdateStatus {
  const view = operation.progress()
  const phase = phaseOf(view)
  const at = now.toISOString()
  const before = update.status ?? {}
  const over = phase === 'Succeeded' || phase === 'Failed'
  return {
    ...before,
    observedGeneration: update.metadata.generation,
    phase,
    operationID: operation.id,
    startedAt: before.startedAt ?? operation.startedAt.toISOString(),
    finishedAt: over ? (before.finishedAt ?? at) : undefined,
    ...summaryOf(view.counts),
    nodes: listedNodes(operation, stateOf),
    conditions: mergeConditions(before.conditions ?? [], conditionsOf(phase, view), at, update.metadata.generation),
  }
}

/** A new operation starts from a clean sheet; the one before moves to the history. */
function freshStatus({ metadata, status }: DirectUpdate, operationID: string, startedAt: Date): DirectUpdateStatus {
  const same = status?.operationID === operationID
  const last =
    status && !same && status.operationID !== undefined && status.phase && status.startedAt !== undefined
      ? [
          {
            generation: status.observedGeneration ?? 0,
            operationID: status.operationID,
            phase: status.phase,
            startedAt: status.startedAt,
            finishedAt: status.finishedAt ?? startedAt.toISOString(),
          },
        ]
      : []
  const history = [...last, ...(status?.history ?? [])].slice(0, 5)
  return {
    observedGeneration: metadata.generation,
    phase: 'Planning',
    operationID,
    startedAt: same && status?.startedAt !== undefined ? status.startedAt : startedAt.toISOString(),
    ...(history.length > 0 && { history }),
  }
}

/** Failed and stuck ones first, then those under work, then the next. */
function listedNodes(
  operation: RunningOperation,
  stateOf: (node: string) => NodeState | undefined,
): DirectUpdateStatus['nodes'] {
  const { table } = operation
  const names = (['failed', 'attention', 'working'] as const).flatMap((standing) => table.some(standing, namesAtMost))
  const entries = names.slice(0, namesAtMost).map((name) => {
    const rollout = stateOf(name)?.status?.rollout
    if (rollout?.operationID !== operation.id) return { name, phase: 'Pending' as const }
    const { phase, since, reason } = rollout
    return { name, phase, since, ...(reason && { reason }) }
  })
  const waiting =
    entries.length < namesAtMost ? [...table.some('waiting', Math.min(3, namesAtMost - entries.length))] : []
  return [
    ...entries,
    ...waiting.map((name) => ({
      name,
      phase: 'Pending' as const,
      ...(operation.waitingFor && { reason: operation.waitingFor }),
    })),
  ]
}

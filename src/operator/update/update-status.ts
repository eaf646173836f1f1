// The status of a DirectUpdate, computed from where its operation stands. Bounded: counts, and fifty names at most.

import type { DirectUpdate, DirectUpdateStatus, UpdatePhase } from '../../api/direct-update.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Preview } from '../../api/preview.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../../core/duration.ts'
import { pastFailure } from '../../core/node/order.ts'
import type { Plan } from '../../core/plan/plan-update.ts'
import { isEndedPhase, isRetryOpen, runOf, specMark } from '../../core/update/operation.ts'
import { conditionsOf, mergeConditions, type ProgressView, phaseOf, summaryOf } from '../../core/update/progress.ts'
import { turnTimer, usedMs } from '../../core/update/timer.ts'
import type { WaveStep } from '../../core/update/waves.ts'
import type { RunningOperation } from './running-operation.ts'
import { startOf } from './update-life.ts'

const namesAtMost = 50

/** The plan, and what it is expected to do. */
export type Planned = Extract<Plan, { verdict: 'planned' }> & { readonly preview: Preview | undefined }

export type Refusal = Extract<Plan, { verdict: 'refused' }>

export function plannedStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  { path, warnings, preflight, preview, osImage }: Planned,
  now: Date,
): DirectUpdateStatus {
  return {
    ...freshStatus(update, runOf(operation.operation), operation.startedAt),
    ...(path && { path }),
    ...(osImage && { osImage }),
    preflight: [...preflight],
    ...(warnings && { warnings: [...warnings] }),
    ...(preview && { preview }),
    conditions: mergeConditions(
      update.status?.conditions ?? [],
      [{ type: 'Planned', status: 'True', reason: 'Planned', message: 'the update can be carried out' }],
      now.toISOString(),
      update.metadata.generation,
    ),
  }
}

/** A dry run is over as soon as it is planned. */
export function dryStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  plan: Planned,
  now: Date,
): DirectUpdateStatus {
  const message = 'spec.dryRun is true: this is all that is done; set it to false to start'
  const no = (type: string) => ({ type, status: 'False' as const, reason: 'Planned', message })
  const planned = plannedStatus(update, operation, plan, now)
  return {
    ...planned,
    phase: 'Planned',
    finishedAt: now.toISOString(),
    conditions: mergeConditions(
      planned.conditions ?? [],
      ['Progressing', 'Blocked', 'Succeeded', 'Failed', 'Reconciling', 'Stalled'].map(no),
      now.toISOString(),
      update.metadata.generation,
    ),
  }
}

export function refusedStatus(
  update: DirectUpdate,
  operationID: string,
  { reason, lasting, preflight, osImage }: Refusal,
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
    ...freshStatus(update, operationID, startOf(update, now)),
    phase,
    ...(preflight && { preflight: [...preflight] }),
    // Asked once while it waits for something else; whoever mends a refusal that lasts may have mended the image.
    ...(osImage && !lasting && { osImage }),
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

/** Cancelled before anything of it began. */
export function cancelledStatus(update: DirectUpdate, operationID: string, now: Date): DirectUpdateStatus {
  const at = now.toISOString()
  const message = 'cancelled before any node was touched'
  const say = (type: string, holds: boolean) => ({
    type,
    status: holds ? ('True' as const) : ('False' as const),
    reason: 'Cancelled',
    message,
  })
  return {
    ...freshStatus(update, operationID, startOf(update, now)),
    phase: 'Cancelled',
    finishedAt: at,
    conditions: mergeConditions(
      [],
      [say('Progressing', false), say('Succeeded', false), say('Failed', false), say('Stalled', true)],
      at,
      update.metadata.generation,
    ),
  }
}

/** Where a running operation stands at an instant. */
export interface RunningView {
  readonly wave: WaveStep | undefined
  readonly progress: ProgressView
  readonly isPolicyPaused: boolean
  readonly now: Date
}

export function runningStatus(
  update: DirectUpdate,
  operation: RunningOperation,
  { wave: step, progress: view, isPolicyPaused, now }: RunningView,
  stateOf: (node: string) => NodeState | undefined,
): DirectUpdateStatus {
  const phase = phaseOf(view)
  const at = now.toISOString()
  const before = update.status ?? {}
  const over = isEndedPhase(phase)
  const wave = waveOf(step?.status ?? before.wave, over || view.desired === 'Cancelled')
  const run = runOf(operation.operation)
  return {
    ...before,
    ...observed(update),
    phase,
    ...(wave && { wave }),
    // Nobody knows when a person comes.
    timer: timerOf(update, view, over || isPolicyPaused || phase === 'RequiresAttention', now),
    ...(update.spec.runNow?.operationID === run && { runNow: update.spec.runNow }),
    warnings: warningsOf(before.warnings, operation),
    operationID: run,
    startedAt: before.startedAt ?? operation.startedAt.toISOString(),
    finishedAt: over ? (before.finishedAt ?? at) : undefined,
    ...summaryOf(view.counts),
    nodes: listedNodes(operation, stateOf, view.waitingFor),
    conditions: mergeConditions(before.conditions ?? [], conditionsOf(phase, view), at, update.metadata.generation),
  }
}

/** What ends asks nobody for an approval. */
function waveOf(wave: DirectUpdateStatus['wave'], isEnding: boolean): DirectUpdateStatus['wave'] {
  if (!wave?.promotion || !isEnding) return wave
  const { promotion: _promotion, ...ended } = wave
  return ended
}

/** When the time of the update is over, if nothing stops its clock before. */
export function expiryOf({ spec, status }: DirectUpdate): number | undefined {
  const { timer } = status ?? {}
  if (spec.operationTimeout === undefined || timer?.runningSince === undefined) return undefined
  return Date.parse(timer.runningSince) + parseDuration(spec.operationTimeout) - timer.usedSeconds * 1000
}

export function expired(update: DirectUpdate, now: Date): Reason | undefined {
  const { metadata, spec, status } = update
  const { operationTimeout } = spec
  if (operationTimeout === undefined || isRetryOpen(update)) return undefined
  if (usedMs(status?.timer, now) < parseDuration(operationTimeout)) return undefined
  return {
    code: 'OperationTimedOut',
    message: `nothing more starts: the update took longer than operationTimeout (${operationTimeout}); slipway retry ${metadata.name} gives it the same time again`,
  }
}

/** Waiting for these is none of the update's time. */
const notCounted: ReadonlySet<Reason['code']> = new Set([
  'WaveSoaking',
  'ApprovalWanted',
  'OutsideWindow',
  'Frozen',
  'WindowTooShort',
  'WindowNeverOpens',
  'CalendarInvalid',
])

/** Its clock runs only while work was allowed; trying again gives the time anew. */
function timerOf(
  update: DirectUpdate,
  { desired, soaking, waitingFor }: ProgressView,
  standsStill: boolean,
  now: Date,
): DirectUpdateStatus['timer'] {
  if (update.spec.operationTimeout === undefined) return undefined
  const isAwaited = soaking || (waitingFor !== undefined && notCounted.has(waitingFor.code))
  const before = isRetryOpen(update) ? undefined : update.status?.timer
  return turnTimer(before, desired === 'Running' && !standsStill && !isAwaited, now)
}

function warningsOf(
  before: DirectUpdateStatus['warnings'],
  operation: RunningOperation,
): DirectUpdateStatus['warnings'] {
  const unknown = operation.unknownSkips().map((name) => ({
    code: 'SkipUnknown' as const,
    message: `spec.skip names ${name}, which is no node that this update selects; correct the name or take it out`,
  }))
  const warnings = [...(before ?? []).filter(({ code }) => code !== 'SkipUnknown'), ...unknown].slice(0, 20)
  return warnings.length > 0 ? warnings : undefined
}

/** What of the spec this status speaks of. */
export function observed({ metadata, spec }: DirectUpdate): DirectUpdateStatus {
  return {
    observedGeneration: metadata.generation,
    observedSpec: specMark(spec),
    ...(spec.retry && { retried: spec.retry.token }),
  }
}

/**
 * A new operation starts from a clean sheet; the one before moves to the history. One that is planned again keeps its backups: it
 * may have asked for one and taken a node for it already, if only the write of its first plan was lost.
 */
function freshStatus(update: DirectUpdate, operationID: string, startedAt: Date): DirectUpdateStatus {
  const { status } = update
  const same = status?.operationID === operationID
  const { backups, backupRun } = same ? status : {}
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
    ...observed(update),
    phase: 'Planning',
    operationID,
    startedAt: same && status?.startedAt !== undefined ? status.startedAt : startedAt.toISOString(),
    ...(history.length > 0 && { history }),
    ...(backups && { backups }),
    ...(backupRun && { backupRun }),
  }
}

/** Failed and stuck ones first, then those under work, then the next. */
function listedNodes(
  operation: RunningOperation,
  stateOf: (node: string) => NodeState | undefined,
  waitingFor: Reason | undefined,
): DirectUpdateStatus['nodes'] {
  const { table } = operation
  const names = (['failed', 'attention', 'working'] as const).flatMap((standing) => table.some(standing, namesAtMost))
  const entries = names.slice(0, namesAtMost).map((name) => {
    const state = stateOf(name)
    const rollout = state?.status?.rollout
    if (rollout?.operationID !== operation.id) {
      const { phase = 'Pending' as const, reason } = pastFailure(state, operation.id) ?? {}
      return { name, phase, ...(reason && { reason }) }
    }
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
      ...(waitingFor && { reason: waitingFor }),
    })),
  ]
}

// One update at one time. Its name is derived and recorded before it is made: whoever dies in between, the next makes the
// very same one, or finds it. Until it is made it may be missed, named or not.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import type { ScheduledPhase, ScheduledUpdate, ScheduledUpdateStatus } from '../../api/schedule.ts'
import { parseDuration } from '../duration.ts'
import { type Read, readZone } from '../time/window.ts'

export type ScheduledAction =
  | { readonly action: 'wait'; readonly untilMs?: number }
  /** Write this status; `reason` where it is a refusal. */
  | { readonly action: 'record'; readonly status: ScheduledUpdateStatus; readonly reason?: Reason }
  /** Later than `untilMs` it is missed. */
  | { readonly action: 'make'; readonly name: string; readonly untilMs: number }

/** How late a run may start where its schedule does not say. */
export const defaultStartBy = '1h'

/** The instant it is meant for. */
export function instantOf({ at, timeZone }: ScheduledUpdate['spec']): Read<number> {
  const hasOffset = /(Z|[+-]\d{2}:\d{2})$/.test(at)
  const written = Date.parse(hasOffset ? at : `${at}Z`)
  // The 30th of February becomes a day in March: no such time is meant.
  const wall = Date.parse(`${at.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(written) || Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== at.slice(0, 10)) {
    return { problem: `spec.at ${at} is no time of the calendar` }
  }
  if (hasOffset) return { value: written }
  const zone = readZone(timeZone)
  return 'problem' in zone ? zone : { value: zone.value.firstInstant(written) }
}

/** The one DirectUpdate that it ever makes, whether or not that is on record. */
export function updateNameOf({ metadata, status }: ScheduledUpdate): string {
  return status?.update ?? nameFor(metadata.name, metadata.uid.slice(0, 8))
}

/** `update`: the one of that name, where it is there and its own. */
export function decideScheduled(
  scheduled: ScheduledUpdate,
  update: DirectUpdate | undefined,
  now: Date,
): ScheduledAction {
  const { spec, status = {} } = scheduled
  const at = instantOf(spec)
  if (status.executedAt === undefined && !update) {
    if ('value' in at) return decideUnmade(scheduled, at.value, now.getTime())
    const reason: Reason = { code: 'ScheduleInvalid', message: at.problem }
    return { action: 'record', status: { phase: 'Scheduled' }, reason }
  }
  // What was made is followed, whatever is written about its time since.
  const meant = 'value' in at ? new Date(at.value).toISOString() : status.at
  const executedAt = status.executedAt ?? update?.metadata.creationTimestamp
  const phase = update ? phaseOf(update) : isOver(status.phase) ? status.phase : 'Cancelled'
  const made = {
    ...(meant !== undefined && { at: meant }),
    update: updateNameOf(scheduled),
    ...(executedAt !== undefined && { executedAt }),
  }
  return recordOr(status, { ...made, ...(phase && { phase }) }, undefined)
}

function decideUnmade(scheduled: ScheduledUpdate, atMs: number, nowMs: number): ScheduledAction {
  const { metadata, spec, status = {} } = scheduled
  const due: ScheduledUpdateStatus = { at: new Date(atMs).toISOString() }
  if (nowMs < atMs) return recordOr(status, { ...due, phase: 'Scheduled' }, atMs)
  // Said once it stands, also where a clock that is set back would have it in time.
  if (status.phase === 'Missed' && status.observedGeneration === metadata.generation) return { action: 'wait' }
  const untilMs = atMs + parseDuration(spec.startBy ?? defaultStartBy)
  if (nowMs > untilMs) {
    const before = status.at === due.at ? status.missedAt : undefined
    return { action: 'record', status: { ...due, phase: 'Missed', missedAt: before ?? new Date(nowMs).toISOString() } }
  }
  const name = updateNameOf(scheduled)
  if (status.update === undefined) return { action: 'record', status: { ...due, phase: 'Executing', update: name } }
  return { action: 'make', name, untilMs }
}

function recordOr(
  before: ScheduledUpdateStatus,
  status: ScheduledUpdateStatus,
  untilMs: number | undefined,
): ScheduledAction {
  const fields = ['phase', 'at', 'update', 'executedAt'] as const
  if (fields.some((field) => before[field] !== status[field])) return { action: 'record', status }
  return { action: 'wait', ...(untilMs !== undefined && { untilMs }) }
}

function isOver(phase: ScheduledPhase | undefined): boolean {
  return phase === 'Completed' || phase === 'Failed' || phase === 'Cancelled'
}

function phaseOf({ status }: DirectUpdate): ScheduledPhase {
  switch (status?.phase) {
    case 'Succeeded':
    case 'Planned':
      return 'Completed'
    case 'Failed':
      return 'Failed'
    case 'Cancelled':
      return 'Cancelled'
    default:
      return 'Executing'
  }
}

/** Room for what makes it unique, also where the name is as long as names may be. */
export function nameFor(name: string, suffix: string): string {
  return `${cut(name, 240)}-${suffix}`
}

/** As much of a name as a label may hold. */
export function labelFor(name: string): string {
  return cut(name, 63)
}

/** What ends in a dash or a dot is neither a name nor a label. */
function cut(name: string, length: number): string {
  return name.slice(0, length).replace(/[-.]+$/, '')
}

// An update again and again. Each run is named by its minute, and the time of the last is on record: no run is made twice,
// also not by a clock that was set back, and those missed are made up for by one, within startBy. What a clock wrote that was
// days ahead counts for nothing.

import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Reason } from '../../api/reason.ts'
import type { UpdateSchedule, UpdateScheduleStatus } from '../../api/schedule.ts'
import { parseDuration } from '../duration.ts'
import { furthestAheadMs, minuteMs } from '../time/wall-clock.ts'
import { isEndedPhase } from '../update/operation.ts'
import { nextTime, type ScheduleTimes, timesOf } from './schedule-times.ts'
import { defaultStartBy, nameFor } from './scheduled-update.ts'

export type ScheduleAction =
  | { readonly action: 'wait'; readonly untilMs?: number }
  | {
      readonly action: 'record'
      readonly status: UpdateScheduleStatus
      readonly reason?: Reason
      readonly missed?: number
    }
  /** Later than `untilMs` it is missed. */
  | { readonly action: 'make'; readonly name: string; readonly untilMs: number }
  | { readonly action: 'cancel'; readonly update: DirectUpdate }
  | { readonly action: 'remove'; readonly update: DirectUpdate }

const defaultKeep = 10
/** Of runs that lie too far back none is counted: a schedule may have slept for years. */
const mostMissed = 1000

/**
 * `made`: the updates this schedule has made that still exist. `holding`: the names of those of them that hold a node: to
 * remove one would put back a node that failed.
 */
export function decideSchedule(
  schedule: UpdateSchedule,
  made: readonly DirectUpdate[],
  holding: ReadonlySet<string>,
  now: Date,
): ScheduleAction {
  const { metadata, spec, status = {} } = schedule
  const lastScheduled = isAhead(status.lastScheduled, now) ? undefined : status.lastScheduled
  const times = timesOf(spec)
  const written = `${spec.cron} ${spec.timeZone ?? 'UTC'}${spec.suspended ? ' suspended' : ''}`
  const since = sinceOf(schedule, written, now)
  const known: UpdateScheduleStatus = {
    ...(lastScheduled !== undefined && { lastScheduled }),
    ...(status.lastUpdate !== undefined && { lastUpdate: status.lastUpdate }),
    since,
    times: written,
  }
  // Times that cannot be read are other times, too: nothing from before they are put right is made up for.
  if ('problem' in times)
    return { action: 'record', status: known, reason: { code: 'ScheduleInvalid', message: times.problem } }
  const open = made.filter(({ status: run }) => !isEndedPhase(run?.phase))
  const base: UpdateScheduleStatus = { ...known, active: open.length }
  const startMs = lastMs(base, since)
  const due = spec.suspended
    ? { run: undefined, missed: 0, lastMs: startMs, untilMs: startMs }
    : latestDue(times, startMs, now, graceOf(schedule, made, now))
  const recorded = (next: UpdateScheduleStatus, missed = 0): ScheduleAction | undefined => {
    const last = lastMs(next, since)
    const nextMs = spec.suspended ? undefined : nextTime(times, Math.max(now.getTime(), last), last)
    const status = { ...next, ...(nextMs !== undefined && { nextScheduled: new Date(nextMs).toISOString() }) }
    return isSame(schedule.status, status) ? undefined : { action: 'record', status, ...(missed > 0 && { missed }) }
  }
  const [surplus] = surplusOf(made, holding, spec.keep ?? defaultKeep)
  if (due.run !== undefined) {
    const name = nameFor(metadata.name, String(Math.floor(due.run / minuteMs)))
    const at = new Date(due.run).toISOString()
    if (made.some((update) => update.metadata.name === name)) {
      return recorded({ ...base, lastScheduled: at, lastUpdate: name }, due.missed) ?? { action: 'wait' }
    }
    const { untilMs } = due
    if (open.length === 0 || spec.overlap === 'Allow') return { action: 'make', name, untilMs }
    if (spec.overlap !== 'Replace') return recorded(base) ?? { action: 'wait', untilMs: untilMs + 1 }
    const record = recorded({ ...base, replacing: at })
    if (record) return record
    const running = open.find(({ spec: { desiredState } }) => desiredState !== 'Cancelled')
    return running ? { action: 'cancel', update: running } : waitForNext(status)
  }
  if (due.missed > 0)
    return recorded({ ...base, lastScheduled: new Date(due.lastMs).toISOString() }, due.missed) ?? { action: 'wait' }
  const record = recorded(base)
  if (record) return record
  if (surplus) return { action: 'remove', update: surplus }
  return waitForNext(status)
}

function waitForNext({ nextScheduled }: UpdateScheduleStatus): ScheduleAction {
  return { action: 'wait', ...(nextScheduled !== undefined && { untilMs: Date.parse(nextScheduled) }) }
}

/** Where the times are other ones than were last seen, or a clock was ahead: what came before counts for nothing. */
function sinceOf({ metadata, status }: UpdateSchedule, written: string, now: Date): string {
  const { since = metadata.creationTimestamp, times = written, lastScheduled } = status ?? {}
  return times === written && !isAhead(since, now) && !isAhead(lastScheduled, now) ? since : now.toISOString()
}

function isAhead(recorded: string | undefined, now: Date): boolean {
  return recorded !== undefined && Date.parse(recorded) - now.getTime() > furthestAheadMs
}

function lastMs({ lastScheduled }: UpdateScheduleStatus, since: string): number {
  return Math.max(Date.parse(since), Date.parse(lastScheduled ?? since))
}

/** How late runs may start. */
interface Grace {
  readonly startByMs: number
  /** The one that earlier ones were cancelled for; its time counts from their end. */
  readonly replacing?: { readonly run: number; readonly fromMs: number }
}

function graceOf({ spec, status }: UpdateSchedule, made: readonly DirectUpdate[], now: Date): Grace {
  const startByMs = parseDuration(spec.startBy ?? defaultStartBy)
  if (spec.overlap !== 'Replace' || status?.replacing === undefined) return { startByMs }
  const run = Date.parse(status.replacing)
  const ends = made.map(({ status: { phase, finishedAt } = {} }) =>
    isEndedPhase(phase) ? Date.parse(finishedAt ?? status.replacing ?? '') : now.getTime(),
  )
  return { startByMs, replacing: { run, fromMs: Math.max(run, ...ends) } }
}

interface Due {
  /** The latest run that may still be made. */
  readonly run: number | undefined
  /** How many before it, or in all where there is none, are lost. */
  readonly missed: number
  readonly lastMs: number
  readonly untilMs: number
}

function latestDue(times: ScheduleTimes, afterMs: number, now: Date, { startByMs, replacing }: Grace): Due {
  const nowMs = now.getTime()
  let lastMs = afterMs
  let count = 0
  const next = (from: number) => nextTime(times, from, afterMs)
  for (let run = next(afterMs); run !== undefined && run <= nowMs; run = next(run)) {
    lastMs = run
    count++
    if (count > mostMissed) {
      // Years of every minute: only what is near is worth looking at.
      const near = Math.max(run, nowMs - 2 * startByMs - 60 * minuteMs)
      if (near > run) run = near
    }
  }
  const untilMs = startByMs + (replacing?.run === lastMs ? replacing.fromMs : lastMs)
  const isInTime = count > 0 && nowMs <= untilMs
  return { run: isInTime ? lastMs : undefined, missed: isInTime ? count - 1 : count, lastMs, untilMs }
}

/** Those that ended, hold no node and are more than are kept, the oldest first. */
function surplusOf(made: readonly DirectUpdate[], holding: ReadonlySet<string>, keep: number): readonly DirectUpdate[] {
  const ended = made.filter(
    ({ metadata, status }) =>
      isEndedPhase(status?.phase) && metadata.deletionTimestamp === undefined && !holding.has(metadata.name),
  )
  const byAge = ended.toSorted((a, b) => (runOf(a) < runOf(b) ? -1 : 1))
  return byAge.slice(0, Math.max(0, byAge.length - keep))
}

function runOf({ metadata }: DirectUpdate): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1))
}

function isSame(before: UpdateScheduleStatus | undefined, after: UpdateScheduleStatus): boolean {
  const fields = ['lastScheduled', 'nextScheduled', 'lastUpdate', 'replacing', 'active', 'since', 'times'] as const
  return before !== undefined && fields.every((field) => before[field] === after[field])
}

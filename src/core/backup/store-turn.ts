// When a store is due for a backup besides those of updates: by its schedule, or because a person asked. What is taken up is on
// record before anybody is asked: nothing is done twice, and what was missed while nobody led is done once, late.

import type { BackupStoreSpec } from '../../api/backup.ts'
import type { BackupDemand, StoreRecord } from '../../api/backup-plan.ts'
import { type Cron, nextRun, parseCron } from '../time/cron.ts'
import { furthestAheadMs } from '../time/wall-clock.ts'
import { readZone } from '../time/window.ts'
import type { Zone } from '../time/zone.ts'

export interface StoreTurn {
  readonly record: StoreRecord
  /** Why its schedule cannot be followed. */
  readonly problem?: string
}

/** The record as it should stand now; with a run in it where one is due or under way. */
export function storeTurn(
  store: BackupStoreSpec,
  recorded: StoreRecord | undefined,
  demand: BackupDemand | undefined,
  now: Date,
): StoreTurn {
  const { next: _next, ...before }: StoreRecord = recorded ?? { store: store.name }
  const times = store.schedule && timesOf(store.schedule)
  const problem = times && 'problem' in times ? { problem: times.problem } : {}
  const due = times && 'cron' in times ? dueOf(times, recorded, now) : {}
  // One at a time: what comes due meanwhile is taken up when this one has ended.
  if (before.run) {
    const next = due.isDue ? recorded?.next : due.next
    return { record: { ...before, ...(next !== undefined && { next }) }, ...problem }
  }
  const next = due.next === undefined ? {} : { next: due.next }
  if (demand && demand.request !== before.asked) {
    const kept = due.isDue && recorded?.next !== undefined ? { next: recorded.next } : next
    const { request, verify } = demand
    const run = { subject: `asked ${request}`, try: 0, failures: [], ...(verify && { verify }) }
    return { record: { ...before, ...kept, asked: request, run }, ...problem }
  }
  if (!due.isDue) return { record: { ...before, ...next }, ...problem }
  const verify = store.schedule?.verify
  const run = { subject: `scheduled ${recorded?.next}`, try: 0, failures: [], ...(verify && { verify }) }
  return { record: { ...before, ...next, ...(recorded?.next !== undefined && { scheduled: recorded.next }), run } }
}

/** Why the schedule of a store cannot be followed. */
export function scheduleProblem({ schedule }: BackupStoreSpec): string | undefined {
  const times = schedule && timesOf(schedule)
  return times && 'problem' in times ? times.problem : undefined
}

/** How many times its schedule came round between the two, three at most. */
export function turnsBetween({ schedule }: BackupStoreSpec, fromMs: number, toMs: number): number {
  const times = schedule && timesOf(schedule)
  if (!times || 'problem' in times) return 0
  let count = 0
  for (let atMs = nextRun(times.cron, times.zone, fromMs); atMs !== undefined && atMs <= toMs && count < 3; count++) {
    atMs = nextRun(times.cron, times.zone, atMs)
  }
  return count
}

interface Times {
  readonly cron: Cron
  readonly zone: Zone
}

interface Due {
  readonly isDue?: boolean
  readonly next?: string
}

/** What is on record is due when its time has come, and is still a time of this schedule: it may have been edited. */
function dueOf({ cron, zone }: Times, { next: recorded, scheduled }: Partial<StoreRecord> = {}, now: Date): Due {
  const nowMs = now.getTime()
  const takenMs = Date.parse(scheduled ?? '')
  const isTaken = takenMs > nowMs && takenMs - nowMs < furthestAheadMs
  const nextMs = nextRun(cron, zone, isTaken ? takenMs : nowMs)
  const next = nextMs === undefined ? {} : { next: new Date(nextMs).toISOString() }
  const recordedMs = Date.parse(recorded ?? '')
  const isDue = recordedMs <= nowMs && nextRun(cron, zone, recordedMs - 1) === recordedMs
  return { ...next, isDue }
}

function timesOf({ cron: text, timeZone }: NonNullable<BackupStoreSpec['schedule']>): Times | { problem: string } {
  const zone = readZone(timeZone)
  if ('problem' in zone) return { problem: zone.problem }
  const parsed = parseCron(text)
  return 'problem' in parsed ? { problem: `cron ${parsed.problem}` } : { cron: parsed.cron, zone: zone.value }
}

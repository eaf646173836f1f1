// When an UpdateSchedule runs: by a cron expression in a zone, or a fixed time after the run before.

import type { UpdateSchedule } from '../../api/schedule.ts'
import { formatDuration, parseDuration } from '../duration.ts'
import { type Cron, nextRun, parseCron } from '../time/cron.ts'
import { minuteMs } from '../time/wall-clock.ts'
import { readZone } from '../time/window.ts'
import type { Zone } from '../time/zone.ts'

export type ScheduleTimes = { readonly cron: Cron; readonly zone: Zone } | { readonly everyMs: number }

/** Runs are named by their minute, so that two can never be in the same one. */
export const shortestEveryMs = minuteMs

export function timesOf({
  cron: text,
  timeZone,
}: Pick<UpdateSchedule['spec'], 'cron' | 'timeZone'>): ScheduleTimes | { readonly problem: string } {
  const zone = readZone(timeZone)
  if ('problem' in zone) return zone
  const every = /^@every(?:\s+(.*))?$/i.exec(text.trim())
  if (every) return everyOf(text, every[1] ?? '')
  const parsed = parseCron(text)
  return 'problem' in parsed ? { problem: `cron ${parsed.problem}` } : { cron: parsed.cron, zone: zone.value }
}

function everyOf(text: string, length: string): ScheduleTimes | { readonly problem: string } {
  const everyMs = /^(?=.)(\d{1,5}h)?(\d{1,5}m)?(\d{1,5}s)?$/.test(length) ? parseDuration(length) : 0
  if (everyMs >= shortestEveryMs) return { everyMs }
  return { problem: `cron "${text}" needs a time of at least ${formatDuration(shortestEveryMs)}, such as @every 36h` }
}

/** The first run after an instant; `lastMs` is when the last one was due, or since when there may be any. */
export function nextTime(times: ScheduleTimes, afterMs: number, lastMs: number): number | undefined {
  if ('cron' in times) return nextRun(times.cron, times.zone, afterMs)
  const { everyMs } = times
  return lastMs + (Math.max(0, Math.floor((afterMs - lastMs) / everyMs)) + 1) * everyMs
}

// The coming seven days: when work may start, when it must not, and what is under way or to be expected.

import type { CalendarView, PolicyView, UpdateView } from '../../api/console.ts'
import type { MaintenancePolicySpec } from '../../api/maintenance-policy.ts'
import { type WindowSpec, workKinds } from '../../api/window.ts'
import { Calendar } from '../time/calendar.ts'
import { readFreeze, readWindow } from '../time/window.ts'
import { instant } from './instants.ts'

const aheadMs = 7 * 24 * 3_600_000
/** A window that opens every minute would say nothing by its list. */
const mostOpenings = 200

export function calendarView(
  spec: MaintenancePolicySpec | undefined,
  updates: Iterable<UpdateView>,
  now: Date,
): CalendarView {
  const nowMs = now.getTime()
  const { windows = [], freezes = [] } = spec ?? {}
  return {
    timeZone: windows[0]?.timeZone ?? freezes[0]?.timeZone ?? 'UTC',
    windows: windows.flatMap((window) => openings(window, nowMs)).toSorted((a, b) => a.from.localeCompare(b.from)),
    freezes: freezes.flatMap((freeze) => {
      const read = readFreeze(freeze)
      if ('problem' in read || read.value.toMs <= nowMs || read.value.fromMs >= nowMs + aheadMs) return []
      return [{ from: instant(read.value.fromMs), to: instant(read.value.toMs), reason: freeze.reason }]
    }),
    runs: [...updates].flatMap((update) => runOf(update, nowMs)),
    always: windows.length === 0,
  }
}

function openings(window: WindowSpec, nowMs: number): CalendarView['windows'] {
  const read = readWindow(window)
  if ('problem' in read) return []
  const found: { from: string; to: string; title: string; work: readonly string[] }[] = []
  let atMs = nowMs
  while (found.length < mostOpenings) {
    const span = read.value.at(atMs)
    if (!span || span.fromMs >= nowMs + aheadMs) break
    const title = window.cron ?? `${(window.days ?? ['every day']).join(', ')} ${window.start}–${window.end}`
    found.push({ from: instant(span.fromMs), to: instant(span.toMs), title, work: window.work ?? workKinds })
    atMs = span.toMs
  }
  return found
}

function runOf({ name, phase, startedAt, endsAt }: UpdateView, nowMs: number): CalendarView['runs'] {
  if (startedAt === undefined || !endsAt || phase === 'Planning') return []
  const now = instant(nowMs)
  return [
    { update: name, from: startedAt, to: now, predicted: false },
    { update: name, from: now, to: endsAt.likely, predicted: true },
  ]
}

export function windowNow(spec: MaintenancePolicySpec | undefined, now: Date): PolicyView['window'] {
  const { windows = [], freezes = [] } = spec ?? {}
  const always = windows.length === 0
  const calendar = new Calendar({ windows, freezes })
  if (calendar.problem !== undefined) return { open: false, always }
  const span = calendar.openingFor('Update').at(now.getTime())
  if (!span) return { open: false, always }
  const open = span.fromMs <= now.getTime()
  const changeMs = open ? span.toMs : span.fromMs
  return { open, always, ...(Number.isFinite(changeMs) && { until: instant(changeMs) }) }
}

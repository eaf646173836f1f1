// What the waves of an update look like on a line of time: what happened is solid, what is forecast is hatched.

import type { CalendarView, UpdateView, WaveView } from '../../../api/console.ts'
import { titled } from '../../parts/titled.ts'
import { type FoldedScale, foldedScale, gaps, type Span } from '../../timeline/folded-scale.ts'
import { hourMs, minuteMs, type ZoneClock } from '../../timeline/wall-clock.ts'

export type Look = 'done' | 'work' | 'idle' | 'predicted' | 'soak' | 'soak-predicted'

export type Mark =
  | { readonly kind: 'bar'; readonly look: Look; readonly from: number; readonly to: number; readonly text?: string }
  | { readonly kind: 'approval'; readonly at: number; readonly given: boolean }

export interface GanttRow {
  readonly key: string
  readonly title: string
  readonly detail: string
  readonly marks: readonly Mark[]
  /** Said beside the last mark. */
  readonly note?: string
  /** The whole row in a sentence, for those who do not see it. */
  readonly spoken: string
}

const leastPadMs = minuteMs
/** Where work may go on at any time only long silences are folded. */
const alwaysFoldMs = 12 * hourMs

export function ganttRows(
  update: UpdateView,
  calendar: CalendarView,
  now: number,
  clock: ZoneClock,
): readonly GanttRow[] {
  const rows = update.waves.map((wave, index) => {
    const row = waveRow(wave, index, now, clock)
    return { ...row, marks: row.marks.flatMap((mark) => withinHours(mark, calendar)) }
  })
  return update.backups.length === 0 ? rows : [backupRow(update, clock), ...rows]
}

/** From the first mark to the last, and to now where it goes on; a window that is open at the beginning is shown from its opening. */
export function ganttScale(
  rows: readonly GanttRow[],
  calendar: CalendarView,
  now: number,
  ended: boolean,
): FoldedScale {
  const spans = rows.flatMap(({ marks }) => marks.flatMap(spanOf))
  const busy = ended && spans.length > 0 ? spans : [{ from: now, to: now }, ...spans]
  const [first, last] = [Math.min(...busy.map(({ from }) => from)), Math.max(...busy.map(({ to }) => to))]
  const windows = calendar.windows
    .map(span)
    .filter(({ from, to }) => busy.some((one) => one.from < to && one.to > from))
  const opened = windows.map(({ from }) => from).filter((from) => from < first && first - from <= 2 * hourMs)
  const from = Math.min(first, ...opened)
  const silentMs = gaps({ from, to: last }, [...busy, ...windows]).reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const padMs = Math.max(leastPadMs, (last - from - silentMs) * 0.06)
  const kept = [...busy.map((one) => ({ from: one.from - padMs, to: one.to + padMs })), ...windows]
  return foldedScale({ from, to: last + padMs }, kept, calendar.always ? alwaysFoldMs : undefined)
}

/** Closed where no window opens in all that time; of what is over the calendar says nothing. */
export function foldText({ from, to }: Span, calendar: CalendarView, now: number): string {
  const hours = Math.round((to - from) / hourMs)
  const length = hours >= 72 ? `${Math.round(hours / 24)} d` : `${hours} h`
  const open = calendar.windows.map(span).some((window) => window.from < to && window.to > from)
  return calendar.always || open || to <= now ? `${length} quiet` : `${length} closed`
}

/** Nothing starts while windows are closed or in a freeze: a forecast over such hours is drawn without them. */
function withinHours(mark: Mark, calendar: CalendarView): readonly Mark[] {
  if (mark.kind !== 'bar' || mark.look !== 'predicted') return [mark]
  const closed = calendar.always ? [] : gaps(mark, calendar.windows.map(span))
  const pieces = gaps(mark, [...closed, ...calendar.freezes.map(span)])
  const { text, ...rest } = mark
  if (pieces.length === 0) return [mark]
  return pieces.map((piece, index) => ({ ...rest, ...piece, ...(index === 0 && text !== undefined && { text }) }))
}

function waveRow(wave: WaveView, index: number, now: number, clock: ZoneClock): GanttRow {
  const marks = [...workMarks(wave, now), ...soakMarks(wave), ...approvalMarks(wave)]
  const note = noteOf(wave, now, clock)
  const title = titled(wave.title)
  const detail = count(wave.nodes)
  return {
    key: `wave-${index}`,
    title,
    detail,
    marks,
    ...(note !== undefined && { note }),
    spoken: [`${title}, ${detail}`, statusOf(wave, clock), note].filter((part) => part !== undefined).join('; '),
  }
}

function workMarks(wave: WaveView, now: number): readonly Mark[] {
  const { startedAt, finishedAt, predicted, done, nodes } = wave
  const begun = instant(startedAt)
  const ended = instant(finishedAt)
  if (begun !== undefined && ended !== undefined) {
    return [{ kind: 'bar', look: 'done', from: begun, to: ended, text: String(nodes) }]
  }
  const ends = instant(predicted?.endsAt)
  if (begun !== undefined) {
    const marks: Mark[] = [{ kind: 'bar', look: 'work', from: begun, to: now, text: `${done} of ${nodes} done` }]
    if (ends !== undefined && ends > now) marks.push({ kind: 'bar', look: 'predicted', from: now, to: ends })
    return marks
  }
  const begins = instant(predicted?.startsAt)
  if (begins === undefined || ends === undefined) return []
  return [{ kind: 'bar', look: 'predicted', from: begins, to: ends, text: `≈ ${count(nodes)}` }]
}

function soakMarks(wave: WaveView): readonly Mark[] {
  const until = instant(wave.soakUntil)
  const from = instant(wave.finishedAt) ?? instant(wave.predicted?.endsAt)
  if (until === undefined || from === undefined || until <= from) return []
  return [{ kind: 'bar', look: wave.finishedAt === undefined ? 'soak-predicted' : 'soak', from, to: until }]
}

function approvalMarks(wave: WaveView): readonly Mark[] {
  const at = approvalAt(wave)
  return wave.approval === undefined || at === undefined
    ? []
    : [{ kind: 'approval', at, given: wave.approval.at !== undefined }]
}

function approvalAt({ approval, soakUntil, finishedAt, predicted }: WaveView): number | undefined {
  return instant(approval?.at) ?? instant(soakUntil) ?? instant(finishedAt) ?? instant(predicted?.endsAt)
}

function noteOf(wave: WaveView, now: number, clock: ZoneClock): string | undefined {
  const { approval, failed } = wave
  const failures = failed > 0 ? [`${failed} failed`] : []
  const at = approvalAt(wave)
  const words =
    approval === undefined || at === undefined
      ? soakNote(wave, now, clock)
      : approval.at !== undefined
        ? [`approved by ${approval.by ?? 'a person'} ${clock.time(at)}`]
        : [approval.asked ? 'waits for approval' : `approval ≈ ${clock.time(at)}`]
  const note = [...failures, ...words]
  return note.length === 0 ? undefined : note.join(', ')
}

function soakNote({ soakUntil }: WaveView, now: number, clock: ZoneClock): readonly string[] {
  const until = instant(soakUntil)
  return until !== undefined && until > now ? [`soak until ${clock.time(until)}`] : []
}

function statusOf({ startedAt, finishedAt, predicted, done, nodes }: WaveView, clock: ZoneClock): string {
  const time = (text: string) => clock.time(Date.parse(text))
  if (startedAt !== undefined && finishedAt !== undefined) return `done from ${time(startedAt)} to ${time(finishedAt)}`
  const ends = predicted === undefined ? '' : `, predicted to end at ${time(predicted.endsAt)}`
  if (startedAt !== undefined) return `under way since ${time(startedAt)}, ${done} of ${nodes} done${ends}`
  return predicted === undefined ? 'not begun' : `predicted to begin at ${time(predicted.startsAt)}${ends}`
}

function backupRow({ backups }: UpdateView, clock: ZoneClock): GanttRow {
  const instants = backups.map(({ at }) => Date.parse(at))
  const checked = backups.every(({ verified }) => verified !== undefined)
  const note = `${backups.length} stored${checked ? ', verified' : ''}`
  return {
    key: 'backups',
    title: 'etcd backup',
    detail: String(backups.length),
    marks: instants.map((at) => ({ kind: 'bar', look: 'idle', from: at, to: at })),
    note,
    spoken: `etcd backups at ${instants.map((at) => clock.time(at)).join(', ')}; ${note}`,
  }
}

function spanOf(mark: Mark): readonly Span[] {
  if (mark.kind === 'approval') return [{ from: mark.at, to: mark.at }]
  // A soak may last for days in which nothing is seen: only its ends matter.
  if (mark.look === 'soak' || mark.look === 'soak-predicted') {
    return [mark.from, mark.to].map((at) => ({ from: at, to: at }))
  }
  return [{ from: mark.from, to: mark.to }]
}

function span({ from, to }: { readonly from: string; readonly to: string }): Span {
  return { from: Date.parse(from), to: Date.parse(to) }
}

function count(nodes: number): string {
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`
}

function instant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}

// The waves on a line of time: windows and freezes behind, closed hours folded, now as a line through all rows.

import { useMemo } from 'react'
import type { CalendarView, UpdateView } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import hatch from '../../parts/hatch.module.css'
import { familyClass } from '../../parts/phase-look.ts'
import text from '../../parts/text.module.css'
import { titled } from '../../parts/titled.ts'
import { isEnded } from '../../parts/update-look.ts'
import { type FoldedScale, type Span, shownPieces, ticks } from '../../timeline/folded-scale.ts'
import { ZoneClock } from '../../timeline/wall-clock.ts'
import styles from './gantt.module.css'
import { Key } from './gantt-key.tsx'
import { GanttLine } from './gantt-line.tsx'
import { foldText, ganttRows, ganttScale } from './gantt-rows.ts'

const nothing: CalendarView = { timeZone: 'UTC', always: true, windows: [], freezes: [], runs: [] }

export function Gantt({ update }: { readonly update: UpdateView }) {
  const calendar = useLive(({ policy }) => policy.calendar) ?? nothing
  const now = useNow(5_000)
  // As every other time on this page: in the zone of whoever reads.
  const clock = useMemo(() => new ZoneClock(Intl.DateTimeFormat().resolvedOptions().timeZone), [])
  const ended = isEnded(update.phase)
  const rows = ganttRows(update, calendar, now, clock)
  const scale = ganttScale(rows, calendar, now, ended)
  return (
    <Card title="Waves" note={sentence(update)}>
      {/* biome-ignore lint/a11y/useSemanticElements: a figure of rows, each said in a sentence */}
      <div className={styles.gantt} role="group" aria-label="Waves on a line of time">
        <div className={styles.names}>
          <div className={styles.corner} />
          {rows.map(({ key, title, detail }) => (
            <div key={key} className={styles.name}>
              <b>{title}</b>
              <span className={text.quiet}>{detail}</span>
            </div>
          ))}
          <div className={styles.name} />
        </div>
        <div className={styles.track}>
          <Background scale={scale} calendar={calendar} now={now} clock={clock} />
          <Axis scale={scale} clock={clock} />
          <ul>
            {rows.map((row) => (
              <GanttLine key={row.key} row={row} scale={scale} />
            ))}
          </ul>
          <div className={styles.line} />
          {!ended && (
            <div className={styles.now} style={{ left: `${scale.at(now)}%` }}>
              <span>now {clock.time(now)}</span>
            </div>
          )}
        </div>
      </div>
      <Key always={calendar.always} />
    </Card>
  )
}

interface BackgroundProps {
  readonly scale: FoldedScale
  readonly calendar: CalendarView
  readonly now: number
  readonly clock: ZoneClock
}

function Background({ scale, calendar, now, clock }: BackgroundProps) {
  const place = ({ from, to }: Span) => ({ left: `${scale.at(from)}%`, width: `${scale.at(to) - scale.at(from)}%` })
  const parsed = <T extends { readonly from: string; readonly to: string }>(all: readonly T[]) =>
    all.map((of) => ({ of, from: Date.parse(of.from), to: Date.parse(of.to) }))
  const pieces = <T extends Span>(spans: readonly T[]) =>
    spans.flatMap((of) => shownPieces(scale, of).map((piece) => ({ ...piece, of })))
  return (
    <>
      {pieces(parsed(calendar.windows)).map(({ from, to, of }) => (
        <div key={`open ${from}`} className={classNames(styles.zone, styles.open)} style={place({ from, to })}>
          {from === of.from && (
            <span className={styles.tag}>
              window {clock.time(of.from)} to {clock.time(of.to)}
            </span>
          )}
        </div>
      ))}
      {scale.stretches
        .filter(({ folded }) => folded)
        .map((fold) => (
          <div key={`fold ${fold.from}`} className={classNames(styles.zone, styles.fold)} style={place(fold)}>
            <span>{foldText(fold, calendar, now)}</span>
          </div>
        ))}
      {pieces(parsed(calendar.freezes)).map(({ from, to, of }) => (
        <div
          key={`freeze ${from} ${of.of.reason}`}
          className={classNames(styles.zone, styles.freeze, hatch.hatch, familyClass('undo'))}
          style={place({ from, to })}
          title={`freeze: ${of.of.reason}`}
        >
          <span>freeze: {of.of.reason}</span>
        </div>
      ))}
    </>
  )
}

function Axis({ scale, clock }: { readonly scale: FoldedScale; readonly clock: ZoneClock }) {
  const marks = ticks(scale, clock)
  return (
    <>
      {marks.map(({ at, left }) => (
        <i key={at} className={styles.rule} style={{ left: `${left}%` }} />
      ))}
      <div className={styles.axis} aria-hidden="true">
        {marks.map(({ at, left, time, day }) => (
          <span
            key={at}
            className={left > 97 ? styles.last : left < 2 ? styles.first : ''}
            style={{ left: `${left}%` }}
          >
            {day !== undefined && <b>{day}</b>}
            {time}
          </span>
        ))}
      </div>
    </>
  )
}

function sentence({ waves, phase }: UpdateView): string {
  const asking = waves.find(({ approval }) => approval?.asked && approval.at === undefined)
  if (asking && !isEnded(phase))
    return `${titled(asking.title)} is done and waits for an approval; the next begins when it is given.`
  const current = waves.find(({ startedAt, finishedAt }) => startedAt !== undefined && finishedAt === undefined)
  if (current && !isEnded(phase))
    return `${titled(current.title)} is under way: ${current.done} of ${current.nodes} nodes are done.`
  const open = waves.filter(({ finishedAt }) => finishedAt === undefined).length
  if (waves.length === 0) return 'Nothing is planned yet.'
  return open === 0 ? 'All waves are done.' : `${open} of ${waves.length} are still to come.`
}

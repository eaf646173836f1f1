import { type ReactNode, useMemo } from 'react'
import type { CalendarView } from '../../../api/console.ts'
import { useNow } from '../../live/use-now.ts'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import hatch from '../../parts/hatch.module.css'
import key from '../../parts/key.module.css'
import { familyClass } from '../../parts/phase-look.ts'
import text from '../../parts/text.module.css'
import { type Night, type NightPiece, nights, piecesOf, placeInNight } from '../../timeline/nights.ts'
import { ZoneClock } from '../../timeline/wall-clock.ts'
import styles from './calendar.module.css'
import { nightSentence } from './night-sentence.ts'

const hours = [12, 15, 18, 21, 0, 3, 6, 9, 12]
/** Narrower than this a name cannot be read; the title still says it. */
const namePercent = 5

export function Calendar({ calendar }: { readonly calendar: CalendarView }) {
  const now = useNow(30_000)
  const clock = useMemo(() => new ZoneClock(calendar.timeZone), [calendar.timeZone])
  const opening = calendar.always
    ? 'No window is declared: work may start at any time.'
    : 'Each row runs from noon to noon, so that a night’s window stays in one piece.'
  return (
    <Card title="Next seven nights" note={`${opening} Times in ${clock.zone}.`}>
      <div className={styles.calendar}>
        <div />
        <div className={styles.axis} aria-hidden="true">
          {hours.map((hour, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: noon stands at both ends
            <span key={index} style={{ left: `${index * 12.5}%` }}>
              {String(hour).padStart(2, '0')}:00
            </span>
          ))}
        </div>
        {nights(now, clock).map((night) => (
          <NightRow key={night.from} night={night} calendar={calendar} clock={clock} now={now} />
        ))}
      </div>
      <Key always={calendar.always} />
    </Card>
  )
}

interface NightRowProps {
  readonly night: Night
  readonly calendar: CalendarView
  readonly clock: ZoneClock
  readonly now: number
}

function NightRow({ night, calendar, clock, now }: NightRowProps) {
  const windows = piecesOf(night, clock, calendar.windows)
  const freezes = piecesOf(night, clock, calendar.freezes)
  const runs = piecesOf(night, clock, calendar.runs)
  const closed = !calendar.always && windows.length === 0 && freezes.length === 0
  return (
    <>
      <div className={styles.day}>
        <b>{night.day}</b>
        <span>
          to {night.next}
          {night.hours !== 24 && <abbr title="the clocks are changed in this night">, {night.hours} h</abbr>}
        </span>
      </div>
      <div className={styles.row}>
        <p className={text.unseen}>{nightSentence(night, calendar, clock)}</p>
        <div aria-hidden="true">
          {hours.slice(1, -1).map((hour, index) => (
            <i key={hour} className={styles.rule} style={{ left: `${(index + 1) * 12.5}%` }} />
          ))}
          {windows.map(({ of, ...piece }) => (
            <Block
              key={`${of.from} ${of.title}`}
              piece={piece}
              className={classNames(styles.window, narrow(of.work) && styles.some)}
              title={windowText(of)}
            >
              {windowText(of)}
            </Block>
          ))}
          {runs.map(({ of, ...piece }) => (
            <Block
              key={`${of.from} ${of.update}`}
              piece={piece}
              className={classNames(styles.run, familyClass('work'), of.predicted ? hatch.forecast : styles.ran)}
              title={`${of.update}, ${of.predicted ? 'predicted' : 'ran'}`}
            >
              {piece.width >= namePercent && <span className={of.predicted ? styles.label : ''}>{of.update}</span>}
            </Block>
          ))}
          {freezes.map(({ of, ...piece }) => (
            <Block
              key={`${of.from} ${of.reason}`}
              piece={piece}
              className={classNames(styles.freeze, hatch.hatch, familyClass('undo'))}
              title={`Freeze: ${of.reason}`}
            >
              {piece.width >= namePercent && <span className={styles.label}>Freeze: {of.reason}</span>}
            </Block>
          ))}
          {closed && <span className={styles.closed}>no window</span>}
          {now >= night.from && now < night.to && (
            <div className={styles.now} style={{ left: `${placeInNight(night, clock, now)}%` }} />
          )}
        </div>
      </div>
    </>
  )
}

interface BlockProps {
  readonly piece: Omit<NightPiece<unknown>, 'of'>
  readonly className: string
  readonly title: string
  readonly children: ReactNode
}

function Block({ piece: { left, width, cutLeft, cutRight }, className, title, children }: BlockProps) {
  return (
    <div
      className={classNames(styles.block, className)}
      data-cut-left={cutLeft}
      data-cut-right={cutRight}
      style={{ left: `${left}%`, width: `${width}%` }}
      title={title}
    >
      {children}
    </div>
  )
}

function Key({ always }: { readonly always: boolean }) {
  return (
    <ul className={classNames(key.key, styles.key)} aria-label="Key">
      {!always && (
        <>
          <li>
            <i className={styles.window} />
            window, any work
          </li>
          <li>
            <i className={classNames(styles.window, styles.some)} />
            window, some work only
          </li>
        </>
      )}
      <li>
        <i className={classNames(hatch.hatch, familyClass('undo'))} />
        freeze
      </li>
      <li>
        <i className={classNames(styles.ran, familyClass('work'))} />
        ran
      </li>
      <li>
        <i className={classNames(hatch.forecast, familyClass('work'))} />
        predicted
      </li>
    </ul>
  )
}

type WindowView = CalendarView['windows'][number]

function narrow(work: WindowView['work']): boolean {
  return work.length > 0 && work.length < 4
}

function windowText({ title, work }: WindowView): string {
  return narrow(work) ? `${work.join(', ').toLowerCase()} only, ${title}` : title
}

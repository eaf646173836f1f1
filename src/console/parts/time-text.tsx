import { useNow } from '../live/use-now.ts'
import { classNames } from './class-names.ts'
import { countdownText, instantText, spanText, wholeInstant } from './instant.ts'
import text from './text.module.css'
import styles from './time-text.module.css'

export interface TimeTextProps {
  /** An instant as the API writes it. */
  readonly at: string
  /** Also how long ago: `01:21, 25 m ago`. */
  readonly ago?: boolean
  readonly className?: string | undefined
}

export function TimeText({ at, ago = false, className }: TimeTextProps) {
  const now = useNow(ago ? 10_000 : 60_000)
  const atMs = Date.parse(at)
  if (Number.isNaN(atMs)) return <span className={className}>{at}</span>
  return (
    <time className={className} dateTime={at} title={wholeInstant(atMs)}>
      {instantText(atMs, now)}
      {ago && atMs <= now && <span className={text.dim}>, {spanText(now - atMs)} ago</span>}
    </time>
  )
}

/** `01:48:00 in 1:45`; the part that ticks is hidden while the link is lost, since it would be a guess. */
export function NextCheck({ at }: { readonly at: string }) {
  const now = useNow(1_000)
  const atMs = Date.parse(at)
  if (Number.isNaN(atMs)) return <span>{at}</span>
  return (
    <>
      <time dateTime={at} title={wholeInstant(atMs)}>
        {instantText(atMs, now, { seconds: true })}
      </time>
      {atMs > now && (
        <span className={classNames(text.dim, styles.tick)} data-live-only="">
          {' '}
          in {countdownText(atMs - now)}
        </span>
      )}
    </>
  )
}

export interface SinceAndNextProps {
  readonly since?: string | undefined
  readonly nextCheck?: string | undefined
  /** Where no time is known: `on retry or skip`. */
  readonly otherwise?: string
}

export function SinceAndNext({ since, nextCheck, otherwise = 'when something changes' }: SinceAndNextProps) {
  return (
    <dl className={styles.pair}>
      <div>
        <dt>Since</dt>
        <dd>{since === undefined ? '–' : <TimeText at={since} ago />}</dd>
      </div>
      <div>
        <dt>Next check</dt>
        <dd>{nextCheck === undefined ? otherwise : <NextCheck at={nextCheck} />}</dd>
      </div>
    </dl>
  )
}

import type { PlanAnswer } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import hatch from '../../parts/hatch.module.css'
import { spanText } from '../../parts/instant.ts'
import text from '../../parts/text.module.css'
import { type Histogram, histogram } from '../../timeline/histogram.ts'
import styles from './durations.module.css'

const labels = 5

export function Durations({ plan }: { readonly plan: PlanAnswer }) {
  const windows = useLive(({ policy }) => policy.calendar.windows) ?? []
  const start = Date.parse(plan.startsAt ?? plan.at)
  const open = windows.find(({ from, to }) => Date.parse(from) <= start && Date.parse(to) > start)
  const longest = Math.max(0, ...plan.durations)
  const closes = open ? (Date.parse(open.to) - start) / 1_000 : 0
  // A window that closes long after the last run says nothing, and would press the columns together.
  const closesSeconds = closes > 0 && closes < longest * 2 ? closes : 0
  const drawn = histogram(plan.durations, closesSeconds)
  return (
    <Card title="How long it takes" aside={<p>{runs(plan.rehearsals)} of the real engine in virtual time</p>}>
      {drawn && differs(plan.durations) ? (
        <Columns drawn={drawn} closesSeconds={closesSeconds} />
      ) : drawn ? (
        <p className={styles.body}>
          ≈ {length(drawn.halfSeconds)}{' '}
          <span className={text.dim}>in every run: nothing in them was left to chance that takes time.</span>
        </p>
      ) : (
        <p className={classNames(styles.body, text.dim)}>
          No rehearsal came to its end, so there is nothing to measure.
        </p>
      )}
    </Card>
  )
}

function Columns({ drawn, closesSeconds }: { readonly drawn: Histogram; readonly closesSeconds: number }) {
  const said = `Half of the runs end within ${length(drawn.halfSeconds)}, nine of ten within ${length(drawn.mostSeconds)}`
  const [half, most] = [drawn.at(drawn.halfSeconds), drawn.at(drawn.mostSeconds)]
  return (
    <div className={styles.body}>
      <div className={styles.columns} role="img" aria-label={said}>
        {drawn.columns.map(({ fromSeconds, toSeconds, count }) => (
          <i
            key={fromSeconds}
            className={classNames(
              hatch.hatch,
              styles.column,
              drawn.halfSeconds >= fromSeconds && drawn.halfSeconds < toSeconds && styles.middle,
            )}
            style={{ height: `${(count / drawn.most) * 78}%` }}
          />
        ))}
        <u className={classNames(styles.mark, half > 60 && styles.before)} style={{ left: `${half}%` }}>
          <span>{length(drawn.halfSeconds)}, half of all runs</span>
        </u>
        {most > half && (
          <u className={classNames(styles.mark, styles.lower, most > 60 && styles.before)} style={{ left: `${most}%` }}>
            <span>{length(drawn.mostSeconds)}, nine of ten</span>
          </u>
        )}
        {closesSeconds > 0 && (
          <u className={classNames(styles.mark, styles.closes)} style={{ left: `${drawn.at(closesSeconds)}%` }} />
        )}
      </div>
      <div className={styles.axis} aria-hidden="true">
        {Array.from({ length: labels }, (_, index) => {
          const seconds = drawn.fromSeconds + ((drawn.toSeconds - drawn.fromSeconds) * index) / (labels - 1)
          return <span key={seconds}>{length(seconds)}</span>
        })}
      </div>
      {closesSeconds > 0 && (
        <p className={`${text.small} ${text.quiet}`}>
          The solid line: the window closes after {length(closesSeconds)}.
        </p>
      )}
    </div>
  )
}

/** One column says no more than a number. */
function differs(durations: readonly number[]): boolean {
  return new Set(durations).size > 1
}

function runs(count: number): string {
  return count === 1 ? 'one run' : `${count} runs`
}

function length(seconds: number): string {
  return spanText(seconds * 1_000)
}

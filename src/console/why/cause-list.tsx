import type { CauseView, NodeTile } from '../../api/console.ts'
import { Card } from '../parts/card.tsx'
import { classNames } from '../parts/class-names.ts'
import { Glyph } from '../parts/glyph.tsx'
import { familyClass } from '../parts/phase-look.ts'
import { ReasonText } from '../parts/reason-text.tsx'
import text from '../parts/text.module.css'
import { TimeText } from '../parts/time-text.tsx'
import { type CauseGroup, heldText } from './cause-groups.ts'
import styles from './cause-list.module.css'
import { causeLook } from './cause-look.ts'

export interface CauseListProps {
  readonly groups: readonly CauseGroup[]
  readonly nodes: Readonly<Record<string, NodeTile>>
  readonly selected: string | undefined
}

export function CauseList({ groups, nodes, selected }: CauseListProps) {
  return (
    <Card className={styles.card}>
      {groups.map(({ waitsFor, title, note, causes }) => (
        <section key={waitsFor} aria-label={title}>
          <h2 className={styles.group}>
            {title} <span>{note}</span>
          </h2>
          <ul>
            {causes.map((cause) => (
              <li key={cause.key}>
                <Cause cause={cause} nodes={nodes} current={cause.key === selected} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Card>
  )
}

interface CauseProps {
  readonly cause: CauseView
  readonly nodes: Readonly<Record<string, NodeTile>>
  readonly current: boolean
}

function Cause({ cause, nodes, current }: CauseProps) {
  const { family, glyph } = causeLook(cause, nodes)
  return (
    <a
      className={classNames(styles.cause, familyClass(family))}
      href={causeAddress(cause.key)}
      aria-current={current ? 'true' : undefined}
    >
      <Glyph name={glyph} className={styles.glyph} />
      <h3>{cause.title}</h3>
      <span className={styles.count}>{heldText(cause)}</span>
      <p>
        <ReasonText message={/[.!?]$/.test(cause.message) ? cause.message : `${cause.message}.`} />{' '}
        <span className={text.quiet}>
          {cause.since !== undefined && (
            <>
              Since <TimeText at={cause.since} />
              {cause.nextCheck !== undefined ? ', ' : '.'}
            </>
          )}
          {cause.nextCheck !== undefined && (
            <>
              next check <TimeText at={cause.nextCheck} />.
            </>
          )}
        </span>
      </p>
    </a>
  )
}

/** A key may hold anything: its parts stay one address. */
export function causeAddress(key: string): string {
  return `#/why/${encodeURIComponent(key)}`
}

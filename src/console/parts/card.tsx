import type { ReactNode } from 'react'
import styles from './card.module.css'
import { classNames } from './class-names.ts'

export interface CardProps {
  readonly title?: ReactNode
  /** A quiet sentence beside the title. */
  readonly note?: ReactNode
  /** At the right end of the head. */
  readonly aside?: ReactNode
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function Card({ title, note, aside, className, children }: CardProps) {
  return (
    <section className={classNames(styles.card, className)}>
      {title !== undefined && (
        <header className={styles.head}>
          <h2>{title}</h2>
          {note !== undefined && <p>{note}</p>}
          {aside !== undefined && <div className={styles.aside}>{aside}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

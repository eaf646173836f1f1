import type { ReactNode } from 'react'
import styles from './figures.module.css'

/** Numbers in a row: each with its name, what it is of, and a line of detail. */
export function Figures({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <dl className={styles.figures} aria-label={label}>
      {children}
    </dl>
  )
}

export interface FigureProps {
  readonly name: string
  readonly value: ReactNode
  /** Beside the number, small: `of 240 nodes`. */
  readonly unit?: ReactNode
  readonly detail?: ReactNode
}

export function Figure({ name, value, unit, detail }: FigureProps) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.value}>
        {value} {unit !== undefined && <small>{unit}</small>}
      </dd>
      {detail !== undefined && <dd className={styles.detail}>{detail}</dd>}
    </div>
  )
}

// What stands where there is nothing to show yet, nothing at all, or nothing that could be had.

import type { ReactNode } from 'react'
import { RequestFailed } from '../request.ts'
import { classNames } from './class-names.ts'
import { Glyph, type GlyphName } from './glyph.tsx'
import { type Family, familyClass } from './phase-look.ts'
import { ReasonText } from './reason-text.tsx'
import styles from './states.module.css'

export interface EmptyStateProps {
  readonly title: string
  /** Says what comes next. */
  readonly children?: ReactNode
  readonly glyph?: GlyphName
  readonly family?: Family
}

export function EmptyState({ title, children, glyph = 'Done', family = 'done' }: EmptyStateProps) {
  return (
    <div className={classNames(styles.state, familyClass(family))}>
      <span className={styles.mark}>
        <Glyph name={glyph} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export interface ErrorStateProps {
  readonly title: string
  readonly error: Error
  /** For instance a button that tries again. */
  readonly children?: ReactNode
}

export function ErrorState({ title, error, children }: ErrorStateProps) {
  const nextStep = error instanceof RequestFailed ? error.nextStep : 'load the page again'
  return (
    <div className={classNames(styles.state, familyClass('bad'))} role="alert">
      <span className={styles.mark}>
        <Glyph name="RequiresAttention" />
      </span>
      <h2>{title}</h2>
      <p>
        <ReasonText message={error.message} />
      </p>
      <p>
        Next: <ReasonText message={nextStep} />
      </p>
      {children}
    </div>
  )
}

export interface SkeletonProps {
  /** In words of CSS, so that what comes has the same place: `60%`, `110px`. */
  readonly width?: string
  readonly height?: string
}

export function Skeleton({ width = '100%', height = '1.2em' }: SkeletonProps) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
}

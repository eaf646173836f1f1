// The frame of a page: what scrolls, and its head. A page's title says how things stand.

import { type ReactNode, useEffect } from 'react'
import { useLive } from '../live/use-live.tsx'
import { classNames } from './class-names.ts'
import styles from './screen.module.css'

export function Screen({ children, busy = false }: { readonly children: ReactNode; readonly busy?: boolean }) {
  return (
    <div className={styles.screen} aria-busy={busy} data-screen="">
      {children}
    </div>
  )
}

export interface PageHeadProps {
  /** For the title of the window: `Fleet`. */
  readonly page: string
  readonly title: ReactNode
  readonly note?: ReactNode
  /** At the right: filters, actions. */
  readonly children?: ReactNode
  readonly className?: string | undefined
}

export function PageHead({ page, title, note, children, className }: PageHeadProps) {
  const cluster = useLive((state) => state.cluster.name)
  useEffect(() => {
    document.title = [page, cluster, 'Slipway'].filter(Boolean).join(' · ')
  }, [page, cluster])
  return (
    <div className={classNames(styles.head, className)}>
      <div className={styles.words}>
        <h1>{title}</h1>
        {note !== undefined && <div className={styles.note}>{note}</div>}
      </div>
      {children !== undefined && <div className={styles.aside}>{children}</div>}
    </div>
  )
}

// The frame around every page: navigation, landmarks, keys, focus, and what is said when the link is lost.

import { type ReactNode, Suspense, useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useLive, usePicture } from '../live/use-live.tsx'
import { OutcomeProvider } from '../parts/outcome.tsx'
import { isStale, LinkBar } from './link-bar.tsx'
import { Navigation } from './navigation.tsx'
import { NoLink } from './no-link.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { pageOf } from './pages.ts'
import styles from './shell.module.css'
import { useKeys } from './use-keys.ts'

export function Shell({ tryNow, children }: { readonly tryNow: () => void; readonly children: ReactNode }) {
  const [location, go] = useLocation()
  const page = pageOf(location)
  const main = useRef<HTMLElement>(null)
  const picture = usePicture()
  useKeys(go)
  useFocusOnNewPage(page?.path, main)
  return (
    <OutcomeProvider>
      <div className={styles.shell} data-stale={isStale(picture) ? '' : undefined}>
        <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
          Skip to the page
        </button>
        <Navigation current={page?.path} />
        <main ref={main} className={styles.main} tabIndex={-1} aria-label={page?.title}>
          <MissingNotice />
          <div className={styles.view}>
            {picture.link === 'lost' && !picture.state ? (
              <NoLink tryNow={tryNow} />
            ) : (
              <PageBoundary key={page?.path} page={page?.title ?? 'Page'}>
                <Suspense fallback={null}>{children}</Suspense>
              </PageBoundary>
            )}
          </div>
          <LinkBar tryNow={tryNow} />
        </main>
      </div>
    </OutcomeProvider>
  )
}

/** A page that was asked for is where a keyboard and a screen reader go on. */
function useFocusOnNewPage(path: string | undefined, main: React.RefObject<HTMLElement | null>): void {
  const before = useRef(path)
  useEffect(() => {
    if (before.current !== undefined && before.current !== path) main.current?.focus({ preventScroll: true })
    before.current = path
  }, [path, main])
}

function MissingNotice() {
  const missing = useLive((state) => state.missing)
  if (!missing || missing.length === 0) return null
  return (
    <p className={styles.missing} role="note">
      You may not {missing.join(', ')}: what depends on it is missing here. Whoever manages the roles of this cluster
      can grant it.
    </p>
  )
}

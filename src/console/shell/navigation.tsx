import type { UpdateView } from '../../api/console.ts'
import { useLive } from '../live/use-live.tsx'
import { Glyph, Logo } from '../parts/glyph.tsx'
import text from '../parts/text.module.css'
import styles from './navigation.module.css'
import { pageGroups } from './pages.ts'
import { StandingFacts } from './standing-facts.tsx'

export function Navigation({ current }: { readonly current: string | undefined }) {
  const badges: Readonly<Record<string, string | undefined>> = {
    '/fleet': useLive(({ nodes }) => Object.keys(nodes).length.toLocaleString('en')),
    '/update': useLive(({ updates }) => progress(Object.values(updates))),
    '/why': useLive(({ causes }) => String(causes.length)),
  }
  return (
    <nav className={styles.navigation} aria-label="Console">
      <div className={styles.brand}>
        <Logo className={styles.logo} />
        <span className={styles.wide}>Slipway</span>
      </div>
      <ClusterHead />
      {pageGroups.map(({ title, pages }) => (
        <div key={title} className={styles.group}>
          <p className={styles.wide} id={`nav-${title}`}>
            {title}
          </p>
          <ul aria-labelledby={`nav-${title}`}>
            {pages.map((page) => (
              <li key={page.path}>
                <a
                  className={styles.link}
                  href={`#${page.path}`}
                  title={page.title}
                  aria-current={page.path === current ? 'page' : undefined}
                >
                  <Glyph name={page.glyph} />
                  <span className={styles.word}>{page.title}</span>
                  <span className={styles.badge}>{badges[page.path]}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <StandingFacts />
    </nav>
  )
}

function ClusterHead() {
  const cluster = useLive((state) => state.cluster)
  const size = useLive(({ nodes }) => {
    const zones = new Set(Object.values(nodes).map(({ zone }) => zone)).size
    return `${Object.keys(nodes).length.toLocaleString('en')} nodes, ${zones} ${zones === 1 ? 'zone' : 'zones'}`
  })
  return (
    <div
      className={styles.cluster}
      title={cluster && `${cluster.server}, Kubernetes ${cluster.kubernetes}, Slipway ${cluster.slipway}`}
    >
      <Glyph name="shield" />
      <div className={styles.wide}>
        <div className={styles.name}>
          {cluster?.name ?? '…'}
          {cluster?.demo && <span className={text.quiet}>, simulated</span>}
        </div>
        <div className={text.quiet}>{size}</div>
      </div>
    </div>
  )
}

/** Of what runs: how far it is. */
function progress(updates: readonly UpdateView[]): string | undefined {
  const running = updates.filter(({ finishedAt, startedAt }) => startedAt !== undefined && finishedAt === undefined)
  const total = running.reduce((sum, { counts }) => sum + counts.total, 0)
  const done = running.reduce((sum, { counts }) => sum + counts.done, 0)
  return total === 0 ? undefined : `${Math.floor((done / total) * 100)}%`
}

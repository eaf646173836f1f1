import { PageHead, Screen } from '../parts/screen.tsx'
import { Skeleton } from '../parts/states.tsx'
import matrix from './fleet-matrix.module.css'
import panel from './node-panel.module.css'

const zones = ['a', 'b', 'c'] as const
const columns = { gridTemplateColumns: 'var(--fleet-names) repeat(3, minmax(0, 1fr))' } as const

/** The fleet before it is known, where it will be. */
export function FleetSkeleton() {
  return (
    <>
      <Screen busy>
        <PageHead page="Fleet" title="Looking at the cluster" note={<Skeleton width="320px" />} />
        <Skeleton height="8px" />
        <Skeleton width="420px" height="30px" />
        <Skeleton height="54px" />
        <div className={matrix.band} style={columns}>
          <Skeleton width="70%" />
          {zones.map((zone) => (
            <div key={zone} className={matrix.tiles}>
              {Array.from({ length: 42 }, (_, tile) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
                <Skeleton key={tile} height="var(--tile)" />
              ))}
            </div>
          ))}
        </div>
      </Screen>
      <aside className={panel.panel} aria-hidden="true">
        <section>
          <Skeleton width="60%" />
          <Skeleton width="40%" />
        </section>
        <section>
          <Skeleton height="110px" />
          <Skeleton height="38px" />
        </section>
      </aside>
    </>
  )
}

// Everything that waits, and on what.

import { useDeferredValue, useState } from 'react'
import { useParams } from 'wouter'
import type { ConsoleState, ScheduleView } from '../../api/console.ts'
import { useLive } from '../live/use-live.tsx'
import { useNow } from '../live/use-now.ts'
import { LinkButton } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { FindField } from '../parts/find-field.tsx'
import { instantText } from '../parts/instant.ts'
import { PageHead, Screen } from '../parts/screen.tsx'
import { EmptyState, Skeleton } from '../parts/states.tsx'
import text from '../parts/text.module.css'
import { useKept } from '../parts/use-kept.ts'
import { parameter } from '../shell/parameter.ts'
import { CauseDetail } from '../why/cause-detail.tsx'
import { causeGroups, causesTitle, matchingCauses } from '../why/cause-groups.ts'
import { CauseList } from '../why/cause-list.tsx'
import styles from './why-page.module.css'

export function WhyPage() {
  const causes = useLive((state) => state.causes)
  const nodes = useLive((state) => state.nodes)
  const schedules = useLive((state) => state.schedules)
  if (!causes || !nodes || !schedules) {
    return (
      <Screen busy>
        <PageHead page="Why" title="Looking for what waits" note={<Skeleton width="360px" />} />
        <div className={styles.columns}>
          <Skeleton height="420px" />
          <Skeleton height="420px" />
        </div>
      </Screen>
    )
  }
  if (causes.length === 0) return <NothingWaits schedules={Object.values(schedules)} />
  return <Causes causes={causes} nodes={nodes} />
}

function Causes({ causes, nodes }: Pick<ConsoleState, 'causes' | 'nodes'>) {
  const wanted = parameter(useParams<{ cause?: string }>().cause)
  const [search, setSearch] = useState('')
  const found = causeGroups(matchingCauses(causes, useDeferredValue(search), nodes))
  const inOrder = found.flatMap((group) => group.causes)
  const gone = wanted !== undefined && !causes.some(({ key }) => key === wanted)
  const kept = useKept(inOrder[0]?.key, (one) => inOrder.some(({ key }) => key === one))
  const shown = gone
    ? undefined
    : (inOrder.find(({ key }) => key === wanted) ?? inOrder.find(({ key }) => key === kept))
  return (
    <Screen>
      <PageHead
        page="Why"
        title={causesTitle(causes)}
        note={
          <>
            Grouped by what is really in the way, not by node. Each sentence is the one in status, events and{' '}
            <span className={text.mono}>slipway why</span>.
          </>
        }
      >
        <FindField label="Filter causes" placeholder="Node, pod, PDB or update" value={search} onChange={setSearch} />
      </PageHead>
      <div className={styles.columns}>
        {inOrder.length === 0 ? (
          <Card>
            <EmptyState title="No cause says that" glyph="find" family="idle">
              <p>{causes.length} causes are known; none of them speaks of it.</p>
            </EmptyState>
          </Card>
        ) : (
          <CauseList groups={found} nodes={nodes} selected={shown?.key} />
        )}
        {gone && (
          <Card>
            <EmptyState title="This cause is gone">
              <p>What waited for it goes on, or waits for something else now. The list has what is left.</p>
            </EmptyState>
          </Card>
        )}
        {shown && <CauseDetail key={shown.key} cause={shown} nodes={nodes} />}
      </div>
    </Screen>
  )
}

/** Says what comes next. */
function NothingWaits({ schedules }: { readonly schedules: readonly ScheduleView[] }) {
  const now = useNow(60_000)
  const next = schedules
    .filter(({ next: at }) => at !== undefined)
    .sort((a, b) => (a.next ?? '').localeCompare(b.next ?? ''))[0]
  return (
    <Screen>
      <PageHead page="Why" title="Nothing waits" />
      <Card>
        <EmptyState title="Every node is where it should be">
          <p>
            No update, profile or reboot waits for anything.{' '}
            {next?.next === undefined ? (
              'None is scheduled either.'
            ) : (
              <>
                The next one is <b>{next.name}</b>, {instantText(Date.parse(next.next), now)}.
              </>
            )}
          </p>
          <LinkButton href="#/budget">Open calendar</LinkButton>
        </EmptyState>
      </Card>
    </Screen>
  )
}

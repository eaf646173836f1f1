// What ran: how it ended, what it took, and what had been predicted of it.

import { useState } from 'react'
import { useLive } from '../live/use-live.tsx'
import { useNow } from '../live/use-now.ts'
import { Card } from '../parts/card.tsx'
import { FindField } from '../parts/find-field.tsx'
import { spanText } from '../parts/instant.ts'
import { PageHead, Screen } from '../parts/screen.tsx'
import { Segments } from '../parts/segments.tsx'
import { EmptyState, Skeleton } from '../parts/states.tsx'
import text from '../parts/text.module.css'
import { DurationsOverTime } from './history/durations-over-time.tsx'
import { RunCard } from './history/run-card.tsx'
import { matching, type RunFilter, runFilters, runRows, runSentence } from './history/run-rows.ts'
import { RunTable } from './history/run-table.tsx'
import { usePlans } from './plan/use-planning.ts'

export function HistoryPage({ params: { run: id } }: { readonly params: { readonly run?: string } }) {
  const runs = useLive((state) => state.runs)
  const plans = usePlans().data ?? []
  const now = useNow(10_000)
  const [filter, setFilter] = useState<RunFilter>('All')
  const [words, setWords] = useState('')
  if (!runs) return <Loading />
  const rows = runRows(runs, plans, now)
  const shown = matching(rows, filter, words)
  const chosen = id === undefined ? undefined : rows.find(({ operationID }) => operationID === decoded(id))
  const { title, offSeconds } = runSentence(rows)
  return (
    <Screen>
      <PageHead
        page="History"
        title={title}
        note={
          offSeconds === undefined
            ? 'A run that was planned on the page Plan before it started shows what had been predicted.'
            : `Predictions of those that succeeded were off by ${spanText(offSeconds * 1_000)} in the middle case.`
        }
      />
      {rows.length === 0 ? (
        <Card>
          <EmptyState title="No update has run in this cluster" glyph="clock" family="idle">
            <p>
              Runs are kept with their updates: each DirectUpdate remembers its last ones, and deleted ones are
              forgotten.
            </p>
          </EmptyState>
        </Card>
      ) : (
        <>
          <div className={text.row}>
            <FindField label="Find runs" placeholder="name, version" value={words} onChange={setWords} />
            <Segments
              label="Which runs"
              segments={runFilters.map((value) => ({ value, label: `${value} ${matching(rows, value, '').length}` }))}
              value={filter}
              onChange={setFilter}
            />
          </div>
          {chosen && <RunCard run={chosen} />}
          <RunTable rows={shown} all={rows} chosen={chosen?.operationID} />
          <DurationsOverTime rows={rows} />
        </>
      )}
    </Screen>
  )
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

function Loading() {
  return (
    <Screen busy>
      <PageHead page="History" title={<Skeleton width="300px" />} note={<Skeleton width="420px" />} />
      <Skeleton height="30px" width="420px" />
      <Skeleton height="320px" />
    </Screen>
  )
}

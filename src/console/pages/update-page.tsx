// One update: how far it is, what its waves did and will do, and each of its nodes with its steps and log.

import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { UpdateView } from '../../api/console.ts'
import { useLive } from '../live/use-live.tsx'
import { LinkButton } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { CommandLine } from '../parts/command-line.tsx'
import { PageHead, Screen } from '../parts/screen.tsx'
import { EmptyState, Skeleton } from '../parts/states.tsx'
import { inOrder } from '../parts/update-look.ts'
import { useKept } from '../parts/use-kept.ts'
import { Gantt } from './update/gantt.tsx'
import { NodesCard } from './update/nodes-card.tsx'
import { Trouble } from './update/trouble.tsx'
import { UpdateFigures } from './update/update-figures.tsx'
import { UpdateHead } from './update/update-head.tsx'

interface Params {
  readonly update?: string
  readonly node?: string
}

export function UpdatePage({ params: { update: name, node } }: { readonly params: Params }) {
  const updates = useLive((state) => state.updates)
  const [, go] = useLocation()
  const all = useMemo(() => (updates ? inOrder(updates) : []), [updates])
  const kept = useKept(all[0]?.name, (one) => updates?.[one] !== undefined)
  if (!updates) return <Loading />
  const update = updates[name ?? kept ?? '']
  if (!update) return <Nothing name={name} all={all} />
  return (
    <Screen>
      <UpdateHead update={update} all={all} />
      <Trouble update={update} />
      <UpdateFigures update={update} />
      <Gantt update={update} />
      <NodesCard
        update={update}
        chosen={node}
        onChoose={(next) => go(`/update/${update.name}${next === undefined ? '' : `/${next}`}`)}
      />
    </Screen>
  )
}

function Nothing({ name, all }: { readonly name: string | undefined; readonly all: readonly UpdateView[] }) {
  const [first] = all
  return (
    <Screen>
      <PageHead page="Update" title={name === undefined ? 'No update' : `There is no update ${name}`} />
      <Card>
        {first ? (
          <EmptyState title={`${name} is not here, or not any more`} glyph="bars" family="idle">
            <p>It may have been deleted, or the link is from another cluster.</p>
            <LinkButton href={`#/update/${first.name}`}>Go to {first.name}</LinkButton>
          </EmptyState>
        ) : (
          <EmptyState title="Nothing is being updated" glyph="bars" family="idle">
            <p>Plan an update first: it is rehearsed on this cluster, and nothing is touched until you start it.</p>
            <LinkButton kind="primary" href="#/plan" glyph="plan">
              Plan an update
            </LinkButton>
            <CommandLine command="slipway update --kubernetes VERSION" />
          </EmptyState>
        )}
      </Card>
    </Screen>
  )
}

/** The same places as what comes. */
function Loading() {
  return (
    <Screen busy>
      <PageHead page="Update" title={<Skeleton width="220px" />} note={<Skeleton width="320px" />} />
      <Skeleton height="92px" />
      <Skeleton height="330px" />
      <Skeleton height="300px" />
    </Screen>
  )
}

// Every node at a glance, and one of them in full.

import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation, useParams } from 'wouter'
import type { ConsoleState, TilePhase } from '../../api/console.ts'
import { type FleetFilter, fleetJudge, noFilter } from '../fleet/fleet-filter.ts'
import { type FleetLayout, fleetLayout, type Nodes, samePlaces } from '../fleet/fleet-layout.ts'
import { FleetList } from '../fleet/fleet-list.tsx'
import { FleetMatrix } from '../fleet/fleet-matrix.tsx'
import { FleetSkeleton } from '../fleet/fleet-skeleton.tsx'
import { fleetSentence, fleetTitle, nodesText, phaseCounts } from '../fleet/fleet-summary.ts'
import { Legend, StackedBar } from '../fleet/legend.tsx'
import { NodePanel } from '../fleet/node-panel.tsx'
import { waveTitle } from '../fleet/tile-words.ts'
import { useLive } from '../live/use-live.tsx'
import { FindField } from '../parts/find-field.tsx'
import { PageHead, Screen } from '../parts/screen.tsx'
import { Segments } from '../parts/segments.tsx'
import { EmptyState } from '../parts/states.tsx'
import { parameter } from '../shell/parameter.ts'
import styles from './fleet-page.module.css'

export function FleetPage() {
  const nodes = useLive((state) => state.nodes)
  const updates = useLive((state) => state.updates)
  const policy = useLive((state) => state.policy)
  if (!nodes || !updates || !policy) return <FleetSkeleton />
  return <Fleet nodes={nodes} updates={updates} policy={policy} />
}

function Fleet({ nodes, updates, policy }: Pick<ConsoleState, 'nodes' | 'updates' | 'policy'>) {
  const selected = parameter(useParams<{ node?: string }>().node)
  const [, go] = useLocation()
  const [filter, setFilter] = useState<FleetFilter>(noFilter)
  const [view, setView] = useState<'map' | 'list'>('map')
  const layout = useLayout(nodes)
  const shownFilter = useDeferredValue(filter)
  // Waves are asked for by name: only then does it matter what the updates say.
  const named = shownFilter.words.includes('wave:') ? updates : undefined
  const judge = useMemo(() => fleetJudge(shownFilter, (tile) => named && waveTitle(tile, named)), [shownFilter, named])
  const tiles = useMemo(() => Object.values(nodes), [nodes])
  const counts = useMemo(() => phaseCounts(tiles), [tiles])
  const select = useCallback((name: string) => go(`/fleet/${encodeURIComponent(name)}`), [go])
  const close = useCallback(() => go('/fleet'), [go])
  useEscape(selected, close)
  const toggle = (phase: TilePhase) => setFilter(({ words, phases }) => ({ words, phases: toggled(phases, phase) }))
  const parts = { nodes, judge, selected }
  return (
    <>
      <Screen>
        <PageHead
          page={selected === undefined ? 'Fleet' : `${selected} · Fleet`}
          title={fleetTitle({ nodes, updates })}
          note={fleetSentence(tiles, counts, policy.paused)}
        >
          <Segments
            label="View"
            value={view}
            onChange={setView}
            segments={[
              { value: 'map', label: 'Map', glyph: 'grid' },
              { value: 'list', label: 'List', glyph: 'plan' },
            ]}
          />
        </PageHead>
        <StackedBar counts={counts} />
        <div className={styles.tools}>
          <FindField
            label="Filter nodes"
            placeholder="name, zone:eu-1b, phase:draining"
            value={filter.words}
            onChange={(words) => setFilter(({ phases }) => ({ words, phases }))}
          />
          <p className={styles.note} role="status">
            {filterText(judge, judge.active ? tiles.filter(judge.matches).length : 0)}
          </p>
          <p className={styles.key}>
            <i /> a dot marks a node that waits
          </p>
        </div>
        <Legend counts={counts} chosen={filter.phases} onToggle={toggle} />
        {layout.total === 0 ? (
          <EmptyState title="No node is known" glyph="grid" family="idle">
            <p>The cluster has none, or you may not list them. Nodes appear here as they join.</p>
          </EmptyState>
        ) : view === 'map' ? (
          <FleetMatrix {...parts} layout={layout} budgets={policy.budgets} onSelect={select} />
        ) : (
          <FleetList {...parts} />
        )}
      </Screen>
      <NodePanel
        name={selected}
        tile={selected === undefined ? undefined : nodes[selected]}
        updates={updates}
        onClose={close}
      />
    </>
  )
}

function filterText({ active, unknown }: ReturnType<typeof fleetJudge>, matching: number): string {
  if (unknown.length > 0) return `no such word: ${unknown.join(', ')}. Try name, zone:, phase:, wave:, role:`
  return active ? `${nodesText(matching)} ${matching === 1 ? 'matches' : 'match'}` : ''
}

function toggled(phases: ReadonlySet<TilePhase>, phase: TilePhase): ReadonlySet<TilePhase> {
  const next = new Set(phases)
  if (!next.delete(phase)) next.add(phase)
  return next
}

/** The layout before, for as long as it holds: what is made from it is not made anew. */
function useLayout(nodes: Nodes): FleetLayout {
  const kept = useRef<{ readonly nodes: Nodes; readonly layout: FleetLayout }>(undefined)
  const { current } = kept
  const layout = current && samePlaces(current.nodes, nodes) ? current.layout : fleetLayout(nodes)
  kept.current = { nodes, layout }
  return layout
}

/** Esc closes the panel and leads back to the node on the map. */
function useEscape(selected: string | undefined, close: () => void): void {
  useEffect(() => {
    if (selected === undefined) return
    const press = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement
      if (event.key !== 'Escape' || typing || document.querySelector('[role=alertdialog]')) return
      close()
      document.querySelector<HTMLElement>(`[data-node="${CSS.escape(selected)}"]`)?.focus()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [selected, close])
}

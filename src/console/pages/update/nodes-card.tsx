import { useMemo, useState } from 'react'
import type { NodeTile, UpdateView } from '../../../api/console.ts'
import { useLive } from '../../live/use-live.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { classNames } from '../../parts/class-names.ts'
import { PhaseChip } from '../../parts/phase-chip.tsx'
import { familyClass, phaseLook } from '../../parts/phase-look.ts'
import { ReasonText } from '../../parts/reason-text.tsx'
import { Segments } from '../../parts/segments.tsx'
import table from '../../parts/table.module.css'
import text from '../../parts/text.module.css'
import { TimeText } from '../../parts/time-text.tsx'
import { NodeDrawer } from './node-drawer.tsx'
import { nodesOf, type Selection, selected, selections, track } from './node-rows.ts'
import styles from './nodes-card.module.css'

/** So many rows at a time: a table of thousands helps nobody, and the fleet shows them all. */
const pageRows = 100
const none: Readonly<Record<string, NodeTile>> = {}

export interface NodesCardProps {
  readonly update: UpdateView
  readonly chosen: string | undefined
  readonly onChoose: (node: string | undefined) => void
}

export function NodesCard({ update, chosen, onChoose }: NodesCardProps) {
  const nodes = useLive((state) => state.nodes) ?? none
  const tiles = useMemo(() => nodesOf(nodes, update.name), [nodes, update.name])
  const [wanted, setWanted] = useState<Selection>()
  const [rows, setRows] = useState(pageRows)
  const selection = wanted ?? (selected(tiles, 'Active').length > 0 ? 'Active' : 'All')
  const shown = selected(tiles, selection)
  const tile = chosen === undefined ? undefined : nodes[chosen]
  return (
    <Card
      title="Nodes"
      note="what broke first, then what moves"
      aside={
        <Segments
          label="Which nodes"
          segments={selections.map((value) => ({ value, label: `${value} ${selected(tiles, value).length}` }))}
          value={selection}
          onChange={setWanted}
        />
      }
    >
      <div className={classNames(styles.split, tile && styles.open)}>
        <div className={styles.list}>
          <table className={classNames(table.table, styles.tall)}>
            <colgroup>
              <col className={styles.node} />
              <col className={styles.phase} />
              <col className={styles.steps} />
              <col />
              <col className={styles.since} />
            </colgroup>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Phase</th>
                <th scope="col">Steps</th>
                <th scope="col">Reason</th>
                <th scope="col" className={table.right}>
                  Since
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.slice(0, rows).map((one) => (
                <Row key={one.name} tile={one} update={update.name} chosen={one.name === chosen} onChoose={onChoose} />
              ))}
            </tbody>
          </table>
          {shown.length === 0 && <p className={styles.empty}>{emptyText(selection, tiles.length)}</p>}
          {shown.length > rows && (
            <p className={styles.empty}>
              <Button small onClick={() => setRows(rows + pageRows)}>
                Show more
              </Button>{' '}
              {shown.length - rows} more, all of them in the <a href="#/fleet">fleet</a>
            </p>
          )}
        </div>
        {tile && <NodeDrawer key={tile.name} tile={tile} onClose={() => onChoose(undefined)} />}
      </div>
    </Card>
  )
}

interface RowProps {
  readonly tile: NodeTile
  readonly update: string
  readonly chosen: boolean
  readonly onChoose: (node: string) => void
}

function Row({ tile, update, chosen, onChoose }: RowProps) {
  const { name, phase, reason, since, step } = tile
  const said = reason?.message ?? (step === undefined ? '' : `Running ${step}`)
  return (
    <tr className={classNames(table.choosable, chosen && table.chosen)} onClick={() => onChoose(name)}>
      <td className={text.mono}>
        <a href={`#/update/${update}/${name}`} aria-current={chosen ? 'true' : undefined}>
          {name}
        </a>
      </td>
      <td>
        <PhaseChip phase={phase} />
      </td>
      <td>
        <Track tile={tile} />
      </td>
      <td title={said}>
        <span className={styles.reason}>
          <ReasonText message={said} />
        </span>
      </td>
      <td className={table.right}>{since === undefined ? '–' : <TimeText at={since} />}</td>
    </tr>
  )
}

function Track({ tile }: { readonly tile: NodeTile }) {
  const stations = track(tile)
  const at = stations.findIndex(({ state }) => state === 'Now' || state === 'Broken')
  const said = at < 0 ? phaseLook(tile.phase).label : `${stations[at]?.name}, ${at + 1} of ${stations.length}`
  return (
    <span className={classNames(styles.track, familyClass(phaseLook(tile.phase).family))} role="img" aria-label={said}>
      {stations.map(({ name, state }) => (
        <i key={name} title={name} data-state={state} />
      ))}
    </span>
  )
}

function emptyText(selection: Selection, all: number): string {
  if (all === 0) return 'No node is part of it now.'
  return selection === 'Waiting' ? 'No node waits for anything.' : 'No node is under work.'
}

// The map of the fleet: zones side by side, groups below each other. Tiles up to a thousand nodes, cells on canvas beyond.

import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react'
import type { BudgetView } from '../../api/console.ts'
import { classNames } from '../parts/class-names.ts'
import text from '../parts/text.module.css'
import { useColours } from '../shell/theme.ts'
import { CellCanvas } from './cell-canvas.tsx'
import { resolvedInks } from './cell-drawing.ts'
import type { FleetJudge } from './fleet-filter.ts'
import { type FleetBand, type FleetCell, type FleetLayout, groupTitle, type Nodes } from './fleet-layout.ts'
import styles from './fleet-matrix.module.css'
import { countsText, nodesText, number, phaseCounts } from './fleet-summary.ts'
import { HoverCard } from './hover-card.tsx'
import { Tile } from './tile.tsx'
import { nextTile } from './tile-walk.ts'

/** Up to here every tile has room for its name. */
const fewNodes = 48

/** From here on a node is a cell. */
export const manyNodes = 1_000

export interface FleetMatrixProps {
  readonly nodes: Nodes
  readonly layout: FleetLayout
  readonly judge: FleetJudge
  readonly budgets: readonly BudgetView[]
  readonly selected: string | undefined
  readonly onSelect: (name: string) => void
}

export function FleetMatrix(props: FleetMatrixProps) {
  const { nodes, layout, selected, onSelect } = props
  const box = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<string>()
  const many = layout.total >= manyNodes
  const first = layout.bands[0]?.rows[0]?.cells.find(({ names }) => names.length > 0)?.names[0]
  const stop = [focused, selected].find((name) => name !== undefined && nodes[name]) ?? first
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const next = nextTile(event.target as HTMLElement, event.key)
    if (!next) return
    event.preventDefault()
    setFocused(next.dataset.node)
    next.focus()
  }
  const click = (event: MouseEvent<HTMLElement>) => {
    const name = (event.target as Element).closest<HTMLElement>('[data-node]')?.dataset.node
    if (name === undefined) return
    setFocused(name)
    onSelect(name)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups the tiles; a fieldset is for fields
    <div ref={box} role="group" aria-label="Nodes by group and zone" onKeyDown={press} onClick={click}>
      {layout.bands.map((band, index) => (
        <Band key={band.zones[0]?.name} {...props} band={band} index={index} many={many} stop={stop} />
      ))}
      <HoverCard box={box} nodes={nodes} layout={layout} />
    </div>
  )
}

interface BandProps extends FleetMatrixProps {
  readonly band: FleetBand
  readonly index: number
  readonly many: boolean
  readonly stop: string | undefined
}

function Band({ band, index, many, stop, ...props }: BandProps) {
  const colours = useColours()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the inks are what the colours resolve to
  const inks = useMemo(resolvedInks, [colours])
  const columns = `var(--fleet-names) repeat(${band.zones.length}, minmax(0, 1fr))`
  const one = (cell: FleetCell, place: string) =>
    cell.names.length === 0 ? (
      <div key={cell.zone} />
    ) : many ? (
      <CellCanvas
        key={cell.zone}
        {...props}
        names={cell.names}
        inks={inks}
        place={place}
        label={`${groupTitle(cell.group)} in ${cell.zone}: ${countsText(phaseCounts(tilesOf(cell, props.nodes)))}`}
      />
    ) : (
      <Tiles key={cell.zone} {...props} cell={cell} stop={stop} />
    )
  return (
    <div className={styles.band} style={{ gridTemplateColumns: columns }}>
      <div />
      {band.zones.map(({ name, total }) => (
        <ZoneHead key={name} zone={name} total={total} budget={zoneBudget(props.budgets, name)} />
      ))}
      {band.rows.map(({ group, total, cells }, row) => [
        <div key={`of ${group}`} className={styles.group}>
          {groupTitle(group)}
          <span>{number(total)}</span>
        </div>,
        ...cells.map((cell, column) => one(cell, `${index}/${row}/${column}`)),
      ])}
    </div>
  )
}

interface TilesProps extends FleetMatrixProps {
  readonly cell: FleetCell
  readonly stop: string | undefined
}

function Tiles({ cell, nodes, layout, judge, selected, stop }: TilesProps) {
  const named = cell.group === 'ControlPlane' || layout.total <= fewNodes
  return (
    <div className={classNames(styles.tiles, named && styles.named)}>
      {tilesOf(cell, nodes).map((tile) => (
        <Tile
          key={tile.name}
          tile={tile}
          named={named}
          selected={tile.name === selected}
          dim={!judge.matches(tile)}
          tabStop={tile.name === stop}
        />
      ))}
    </div>
  )
}

interface ZoneHeadProps {
  readonly zone: string
  readonly total: number
  readonly budget: BudgetView | undefined
}

function ZoneHead({ zone, total, budget }: ZoneHeadProps) {
  const used = budget?.used.length ?? 0
  return (
    <div className={styles.zone}>
      <b>{zone}</b>
      <span className={classNames(text.quiet, text.small)}>
        <span className={budget && styles.total}>
          {nodesText(total)}
          {budget && ', '}
        </span>
        {budget && `${used} of ${budget.limit} slots`}
      </span>
      {budget && budget.limit <= 8 && (
        <span className={classNames(styles.gauge, used >= budget.limit && styles.full)} aria-hidden="true">
          {Array.from({ length: budget.limit }, (_, slot) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a slot is its number
            <i key={slot} className={slot < used ? styles.used : undefined} />
          ))}
        </span>
      )}
    </div>
  )
}

function zoneBudget(budgets: readonly BudgetView[], zone: string): BudgetView | undefined {
  return budgets.find(({ title }) => title === `zone ${zone}`)
}

function tilesOf(cell: FleetCell, nodes: Nodes) {
  return cell.names.map((name) => nodes[name]).filter((tile) => tile !== undefined)
}

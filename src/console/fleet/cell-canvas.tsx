// Many nodes on one canvas. A change draws the cells that changed and no others. For keyboards and screen readers it is a
// list with one node in focus at a time.

import { type KeyboardEvent, memo, type PointerEvent, useEffect, useId, useRef, useState } from 'react'
import type { NodeTile } from '../../api/console.ts'
import styles from './cell-canvas.module.css'
import { cellPx, drawCell, type Inks } from './cell-drawing.ts'
import type { FleetJudge } from './fleet-filter.ts'
import type { Nodes } from './fleet-layout.ts'
import { tileLabel } from './tile-words.ts'

export interface CellCanvasProps {
  readonly names: readonly string[]
  readonly nodes: Nodes
  readonly label: string
  readonly judge: FleetJudge
  readonly inks: Inks
  readonly selected: string | undefined
  readonly onSelect: (name: string) => void
  /** So that whoever looks for the node under a pointer finds the list it stands in. */
  readonly place: string
}

export const CellCanvas = memo(function CellCanvas(props: CellCanvasProps) {
  const { names, nodes, label, selected, onSelect, place } = props
  const id = useId()
  const canvas = useRef<HTMLCanvasElement>(null)
  const perRow = useCellsPerRow(canvas)
  const [active, setActive] = useState(0)
  useDrawing(canvas, perRow, props)
  const at = Math.min(active, names.length - 1)
  const tile = nodes[names[at] ?? '']
  const marked = selected === undefined ? -1 : names.indexOf(selected)
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow }[event.key]
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      if (tile) onSelect(tile.name)
    } else if (event.key === 'Home' || event.key === 'End') {
      event.preventDefault()
      setActive(event.key === 'Home' ? 0 : names.length - 1)
    } else if (step !== undefined) {
      event.preventDefault()
      const next = at + step
      if (next >= 0 && next < names.length) setActive(next)
      else neighbour(event.currentTarget, step)?.focus()
    }
  }
  const click = (event: PointerEvent<HTMLElement>) => {
    const index = cellAt(event.currentTarget, event, perRow)
    const name = names[index]
    if (name === undefined) return
    setActive(index)
    onSelect(name)
  }
  return (
    <div
      className={styles.cells}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={tile && id}
      data-cell={place}
      data-per-row={perRow}
      onKeyDown={press}
      onPointerUp={click}
    >
      <canvas ref={canvas} className={styles.canvas} />
      {marked >= 0 && <i className={styles.selected} style={cellPosition(marked, perRow)} />}
      {tile && (
        <div
          id={id}
          className={styles.active}
          style={cellPosition(at, perRow)}
          role="option"
          tabIndex={-1}
          aria-selected={at === marked}
          aria-posinset={at + 1}
          aria-setsize={names.length}
          data-active-node={tile.name}
          aria-label={tileLabel(tile)}
        />
      )}
    </div>
  )
})

/** The cell under the pointer; -1 beside them. */
export function cellAt(element: Element, at: { clientX: number; clientY: number }, perRow: number): number {
  const { left, top } = element.getBoundingClientRect()
  const column = Math.floor((at.clientX - left) / cellPx)
  return column < 0 || column >= perRow ? -1 : Math.floor((at.clientY - top) / cellPx) * perRow + column
}

function cellPosition(index: number, perRow: number): { readonly transform: string } {
  return { transform: `translate(${(index % perRow) * cellPx}px, ${Math.floor(index / perRow) * cellPx}px)` }
}

function neighbour(element: HTMLElement, step: number): HTMLElement | undefined {
  const lists = [...document.querySelectorAll<HTMLElement>('[data-cell]')]
  return lists[lists.indexOf(element) + Math.sign(step)]
}

function useCellsPerRow(canvas: React.RefObject<HTMLCanvasElement | null>): number {
  const [perRow, setPerRow] = useState(1)
  useEffect(() => {
    const box = canvas.current?.parentElement
    if (!box) return
    const measure = () => setPerRow(Math.max(1, Math.floor(box.clientWidth / cellPx)))
    const observer = new ResizeObserver(measure)
    measure()
    observer.observe(box)
    return () => observer.disconnect()
  }, [canvas])
  return perRow
}

interface Drawn {
  readonly tiles: (NodeTile | undefined)[]
  readonly perRow: number
  readonly names: readonly string[]
  readonly judge: FleetJudge
  readonly inks: Inks
}

function useDrawing(canvas: React.RefObject<HTMLCanvasElement | null>, perRow: number, props: CellCanvasProps): void {
  const { names, nodes, judge, inks } = props
  const before = useRef<Drawn>(undefined)
  useEffect(() => {
    const pen = canvas.current?.getContext('2d')
    if (!canvas.current || !pen) return
    const { current: drawn } = before
    const same =
      drawn?.perRow === perRow && drawn.names === names && drawn.judge === judge && drawn.inks === inks
        ? drawn
        : undefined
    if (!same) stretch(canvas.current, pen, perRow, Math.ceil(names.length / perRow))
    const tiles = same?.tiles ?? new Array<NodeTile | undefined>(names.length)
    names.forEach((name, index) => {
      const tile = nodes[name]
      if (!tile || tile === tiles[index]) return
      tiles[index] = tile
      const place = { x: (index % perRow) * cellPx, y: Math.floor(index / perRow) * cellPx }
      drawCell(pen, place, { phase: tile.phase, dim: !judge.matches(tile) }, inks)
    })
    before.current = { tiles, perRow, names, judge, inks }
  }, [canvas, perRow, names, nodes, judge, inks])
}

function stretch(canvas: HTMLCanvasElement, pen: CanvasRenderingContext2D, perRow: number, rows: number): void {
  const density = window.devicePixelRatio || 1
  canvas.width = Math.ceil(perRow * cellPx * density)
  canvas.height = Math.ceil(rows * cellPx * density)
  canvas.style.width = `${perRow * cellPx}px`
  canvas.style.height = `${rows * cellPx}px`
  pen.scale(density, density)
}

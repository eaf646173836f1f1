// What a node says when one points at it. It hides nothing from others: a tile's label holds the same words.

import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { classNames } from '../parts/class-names.ts'
import { PhaseChip } from '../parts/phase-chip.tsx'
import { ReasonText } from '../parts/reason-text.tsx'
import text from '../parts/text.module.css'
import { TimeText } from '../parts/time-text.tsx'
import { cellAt } from './cell-canvas.tsx'
import type { FleetLayout, Nodes } from './fleet-layout.ts'
import styles from './hover-card.module.css'
import { placeText, sentence } from './tile-words.ts'

interface Pointed {
  readonly name: string
  readonly left: number
  readonly top: number
  readonly bottom: number
}

export interface HoverCardProps {
  readonly box: RefObject<HTMLElement | null>
  readonly nodes: Nodes
  readonly layout: FleetLayout
}

export function HoverCard({ box, nodes, layout }: HoverCardProps) {
  const pointed = usePointed(box, layout)
  const card = useRef<HTMLDivElement>(null)
  const tile = pointed && nodes[pointed.name]
  useLayoutEffect(() => {
    if (!card.current || !pointed) return
    const { width, height } = card.current.getBoundingClientRect()
    const left = Math.max(8, Math.min(window.innerWidth - width - 8, pointed.left - width / 2))
    const below = pointed.bottom + 10
    const top = below + height > window.innerHeight ? Math.max(8, pointed.top - height - 10) : below
    card.current.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`
  })
  if (!tile) return null
  const { since, nextCheck } = tile.reason ?? {}
  const from = since ?? tile.since
  return (
    <div ref={card} className={styles.card} aria-hidden="true">
      <div className={styles.head}>
        <b className={text.mono}>{tile.name}</b>
        <PhaseChip phase={tile.phase} />
      </div>
      <div className={classNames(text.small, text.dim)}>{placeText(tile)}</div>
      <p>
        <ReasonText message={sentence(tile)} />
      </p>
      {from !== undefined && (
        <div className={classNames(text.small, text.quiet)}>
          since <TimeText at={from} />
          {nextCheck !== undefined && (
            <>
              , next check <TimeText at={nextCheck} />
            </>
          )}
        </div>
      )}
    </div>
  )
}

function usePointed(box: RefObject<HTMLElement | null>, layout: FleetLayout): Pointed | undefined {
  const [pointed, setPointed] = useState<Pointed>()
  useEffect(() => {
    const { current: element } = box
    if (!element) return
    const point = (next: Pointed | undefined) =>
      setPointed((before) => (before?.name === next?.name && next?.name !== undefined ? before : next))
    const move = (event: PointerEvent) => point(underPointer(event, layout))
    const leave = () => setPointed(undefined)
    const focus = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) point(target.matches(':focus-visible') ? ofTile(target) : undefined)
    }
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && leave()
    element.addEventListener('pointermove', move)
    element.addEventListener('pointerleave', leave)
    element.addEventListener('focusin', focus)
    element.addEventListener('focusout', leave)
    document.addEventListener('keydown', press)
    return () => {
      element.removeEventListener('pointermove', move)
      element.removeEventListener('pointerleave', leave)
      element.removeEventListener('focusin', focus)
      element.removeEventListener('focusout', leave)
      document.removeEventListener('keydown', press)
    }
  }, [box, layout])
  return pointed
}

function underPointer(event: PointerEvent, layout: FleetLayout): Pointed | undefined {
  if (!(event.target instanceof Element)) return undefined
  const tile = event.target.closest<HTMLElement>('[data-node]')
  if (tile) return ofTile(tile)
  const list = event.target.closest<HTMLElement>('[data-cell]')
  if (!list) return undefined
  const [band = 0, row = 0, column = 0] = (list.dataset.cell ?? '').split('/').map(Number)
  const { names = [] } = layout.bands[band]?.rows[row]?.cells[column] ?? {}
  const name = names[cellAt(list, event, Number(list.dataset.perRow))]
  return name === undefined ? undefined : { name, left: event.clientX, top: event.clientY, bottom: event.clientY + 4 }
}

function ofTile(tile: HTMLElement): Pointed | undefined {
  const { node: name } = tile.dataset
  const { left, width, top, bottom } = tile.getBoundingClientRect()
  return name === undefined ? undefined : { name, left: left + width / 2, top, bottom }
}

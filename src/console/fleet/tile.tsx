import { memo } from 'react'
import type { NodeTile } from '../../api/console.ts'
import { classNames } from '../parts/class-names.ts'
import { Glyph } from '../parts/glyph.tsx'
import { familyClass, phaseLook } from '../parts/phase-look.ts'
import styles from './tile.module.css'
import { tileLabel } from './tile-words.ts'

export interface TileProps {
  readonly tile: NodeTile
  readonly selected: boolean
  readonly dim: boolean
  /** One tile of the fleet is the tab stop; arrows lead on from there. */
  readonly tabStop: boolean
  readonly named: boolean
}

/** Drawn again only when its own node changed. Clicks are heard by the fleet. */
export const Tile = memo(function Tile({ tile, selected, dim, tabStop, named }: TileProps) {
  const { glyph } = phaseLook(tile.phase)
  return (
    <button
      type="button"
      className={classNames(tileClass(tile), dim && styles.dim, selected && styles.selected, named && styles.named)}
      data-node={tile.name}
      tabIndex={tabStop ? 0 : -1}
      aria-label={tileLabel(tile)}
      aria-pressed={selected}
    >
      <Glyph name={glyph} />
      {named && tile.name}
    </button>
  )
})

export function tileClass({ phase, waits }: Pick<NodeTile, 'phase' | 'waits'>): string {
  const { family, fill } = phaseLook(phase)
  return classNames(
    styles.tile,
    familyClass(family),
    styles[fill],
    phase === 'Working' && styles.breath,
    waits && styles.waits,
  )
}

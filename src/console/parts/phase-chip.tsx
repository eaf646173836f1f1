import type { TilePhase } from '../../api/console.ts'
import { classNames } from './class-names.ts'
import { Glyph, type GlyphName } from './glyph.tsx'
import styles from './phase-chip.module.css'
import { type Family, familyClass, phaseLook } from './phase-look.ts'

export function PhaseChip({ phase }: { readonly phase: TilePhase }) {
  const { family, glyph, label } = phaseLook(phase)
  return <Chip family={family} glyph={glyph} label={label} solid={phase === 'Failed'} />
}

export interface ChipProps {
  readonly family: Family
  readonly glyph: GlyphName
  readonly label: string
  /** For what broke, and nothing else. */
  readonly solid?: boolean
}

export function Chip({ family, glyph, label, solid = false }: ChipProps) {
  return (
    <span className={classNames(styles.chip, familyClass(family), solid && styles.solid)}>
      <Glyph name={glyph} className={styles.glyph} />
      {label}
    </span>
  )
}

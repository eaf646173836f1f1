import type { TilePhase } from '../../api/console.ts'
import { classNames } from '../parts/class-names.ts'
import { Glyph } from '../parts/glyph.tsx'
import { familyClass, phaseLook, tilePhases } from '../parts/phase-look.ts'
import { barOrder, countsText, number, type PhaseCounts } from './fleet-summary.ts'
import styles from './legend.module.css'
import { tileClass } from './tile.tsx'

export function StackedBar({ counts }: { readonly counts: PhaseCounts }) {
  const there = barOrder.filter((phase) => counts[phase] > 0)
  return (
    <div className={styles.bar} role="img" aria-label={countsText(counts)}>
      {there.map((phase) => {
        const { family, fill } = phaseLook(phase)
        const quiet = fill === 'plain' || phase === 'Idle'
        return (
          <i
            key={phase}
            className={classNames(familyClass(family), quiet && styles.hollow)}
            style={{ flexGrow: counts[phase] }}
          />
        )
      })}
    </div>
  )
}

export interface LegendProps {
  readonly counts: PhaseCounts
  readonly chosen: ReadonlySet<TilePhase>
  readonly onToggle: (phase: TilePhase) => void
}

/** Names the phases, counts them, and filters by them. */
export function Legend({ counts, chosen, onToggle }: LegendProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring a frame of its own
    <div className={styles.legend} role="group" aria-label="Filter by phase">
      {tilePhases.map((phase) => (
        <button
          key={phase}
          type="button"
          aria-pressed={chosen.has(phase)}
          className={counts[phase] === 0 ? styles.none : undefined}
          onClick={() => onToggle(phase)}
        >
          <span className={classNames(tileClass({ phase, waits: false }), styles.sample)}>
            <Glyph name={phaseLook(phase).glyph} />
          </span>
          {phaseLook(phase).label} <b>{number(counts[phase])}</b>
        </button>
      ))}
    </div>
  )
}

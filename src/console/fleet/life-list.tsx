import type { NodeDetail, TilePhase } from '../../api/console.ts'
import { classNames } from '../parts/class-names.ts'
import { Glyph, type GlyphName } from '../parts/glyph.tsx'
import { familyClass, type PhaseLook, phaseLook, tilePhases } from '../parts/phase-look.ts'
import { TimeText } from '../parts/time-text.tsx'
import styles from './life-list.module.css'
import panel from './node-panel.module.css'

export interface LifeListProps {
  readonly life: NodeDetail['life']
  readonly phase: TilePhase
}

/** Not a phase: between the work and its failure, where what was done was undone. */
const undone = 'RolledBack'

/** From Pending to Done: what is behind it, where it stands, what comes. */
export function LifeList({ life, phase }: LifeListProps) {
  return (
    <section>
      <h3 className={panel.title}>Life of this node</h3>
      <ol className={styles.life}>
        {life.map(({ phase: stage, at, state }) => (
          <li
            key={stage}
            className={classNames(styles[state.toLowerCase()], state === 'Now' && familyClass(phaseLook(phase).family))}
          >
            <Glyph name={glyphOf(stage, state)} />
            <span>{stage === undone ? 'Undone' : (lookOf(stage)?.label ?? stage)}</span>
            <span className={styles.when}>{at !== undefined ? <TimeText at={at} /> : state === 'Now' && 'now'}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function glyphOf(stage: string, state: NodeDetail['life'][number]['state']): GlyphName {
  if (stage === undone) return 'RolledBack'
  return state === 'Done' ? 'Done' : (lookOf(stage)?.glyph ?? 'Pending')
}

function lookOf(stage: string): PhaseLook | undefined {
  const phase = tilePhases.find((known) => known === stage)
  return phase && phaseLook(phase)
}

import type { UpdateView } from '../../../api/console.ts'
import { Glyph } from '../../parts/glyph.tsx'
import text from '../../parts/text.module.css'
import styles from './update-head.module.css'

const words = { Done: 'done', Running: 'under way', Waiting: 'to come' } as const

/** From where it was to where it goes, version by version. */
export function VersionPath({ update: { from, target, steps, phase } }: { readonly update: UpdateView }) {
  const only = { version: target, state: phase === 'Succeeded' ? 'Done' : 'Waiting' } as const
  const shown = steps.length > 0 ? steps : [only]
  return (
    <ol className={styles.path} aria-label="Version path">
      {from !== undefined && <li className={styles.from}>{from}</li>}
      {shown.map(({ version, state }, index) => (
        <li key={version}>
          {(index > 0 || from !== undefined) && <span className={styles.line} data-state={state} />}
          {state === 'Done' && <Glyph name="Done" className={styles.reached} />}
          {version}
          {steps.length > 0 && <span className={`${text.small} ${text.quiet}`}>{words[state]}</span>}
        </li>
      ))}
    </ol>
  )
}

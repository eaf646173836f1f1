import type { UpdateView } from '../../../api/console.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { familyClass } from '../../parts/phase-look.ts'
import { ReasonText } from '../../parts/reason-text.tsx'
import { isEnded } from '../../parts/update-look.ts'
import styles from './trouble.module.css'

/** Why it does not go on, and what was remarked on: said before any figure. */
export function Trouble({ update: { reason, warnings, preflight, phase } }: { readonly update: UpdateView }) {
  const refused = isEnded(phase) ? [] : preflight.filter(({ result }) => result === 'Failed')
  const lines = [
    ...(reason ? [{ code: reason.code, message: reason.message, bad: phase === 'Failed' }] : []),
    ...refused.map(({ check, message }) => ({ code: check, message, bad: true })),
    ...warnings.map(({ code, message }) => ({ code, message, bad: false })),
  ]
  if (lines.length === 0) return null
  return (
    <ul className={styles.lines} aria-label="What holds it up, and warnings">
      {lines.map(({ code, message, bad }) => (
        <li key={`${code} ${message}`} className={familyClass(bad ? 'bad' : 'out')}>
          <Glyph name={bad ? 'Failed' : 'RequiresAttention'} className={styles.mark} />
          <span>
            <ReasonText message={message} />
          </span>
          <span className={styles.code}>{code}</span>
        </li>
      ))}
    </ul>
  )
}
